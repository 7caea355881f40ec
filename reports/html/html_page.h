/* SPDX-License-Identifier: MIT */
/* Pieces of an HTML page: the frame with its style, escaped text, pictures, lists. */
#ifndef CHOKEPOINT_REPORTS_HTML_PAGE_H
#define CHOKEPOINT_REPORTS_HTML_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* Begins the page. It loads nothing from anywhere and runs no script. */
void html_begin(FILE *out, const char *title);
void html_end(FILE *out);

/* Text from outside: escaped for element content and for quoted attributes. */
void html_put(FILE *out, const char *text);

/* <tag class="class">text</tag>; class may be NULL. */
void html_element(FILE *out, const char *tag, const char *class, const char *text);

/* A list of texts under a heading; nothing when it is empty. */
void html_list(FILE *out, const char *heading, char *const *items, size_t n);

/* A picture from an SVG document, which is freed. As an image of its own it can neither run script
 * nor disturb the ids of another. NULL (with errno as plot.h says) leaves a line why there is none,
 * or nothing for ENODATA. */
void html_picture(FILE *out, char *svg, const char *caption);

#endif
