/* SPDX-License-Identifier: MIT */
/* Shared by the files of the HTML format. */
#ifndef CHOKEPOINT_REPORTS_HTML_PRIVATE_H
#define CHOKEPOINT_REPORTS_HTML_PRIVATE_H

#include "reports/formats/formats.h"

/* State of a page: its body is collected, so that the contents can stand before it. */
struct html {
    FILE *out; /* the page's stream, while its body is being collected */
    char *body;
    size_t size, contents_at; /* position in the body where the contents go; 0: before all of it */
    struct html_entry *entries;
    size_t n_entries, n_headings, n_scrolls, n_pictures;
    int raised;                       /* levels of headings */
    const char *part_id, *part_title; /* the part begins with the first thing in it */
    bool in_part, defined;            /* defined: the marks that plots refer to were written */
    char title[96];                   /* of the next table */
};

/* ---- html_text.c ---- */

/* Writes text from anywhere as text of the page: no part of it becomes a tag, an entity or a
 * control character.
 */
void html_put(FILE *out, const char *text);
/* Writes a sentence of ours, in which backticks enclose a command. */
void html_put_words(FILE *out, const char *text);
/* class may be NULL. */
void html_put_element(FILE *out, const char *tag, const char *class, const char *text);
void html_put_sentence(FILE *out, const char *tag, const char *class, const char *text);
void html_put_items(FILE *out, char *const *items, size_t n);

/* ---- html_contents.c ---- */

void html_begin(struct page *page, const char *title, const char *schema);
void html_end(struct page *page);
/* Content above the first heading of level 2, or part, is outside of cards. */
void html_open_card(struct page *page);
void html_close_part(struct page *page);
void html_part(struct page *page, const char *id, const char *title);
void html_heading(struct page *page, int level, const char *text);
/* Opens an area for something wider than a phone, which scrolls separately, also by keyboard. */
void html_open_scroll(struct page *page, const char *what, const char *name);

/* ---- html_path.c ---- */

/* Writes the data of a gnuplot path that begins with "d='M" there, shortened. Returns where they
 * end, or NULL if nothing was written.
 */
const char *html_put_line(FILE *out, const char *at);
/* Writes adjacent polygons of one look as data of one path, and gives their element's attributes
 * except the points. Returns what follows them, or NULL if there are none.
 */
const char *html_put_areas(FILE *out, const char *at, const char **ret_look, size_t *ret_n);

/* ---- html_legend.c ---- */

void html_open_legend(FILE *out, const char *class);
void html_put_key(FILE *out, const char *colour, const char *words);
/* Writes the legend that is in gnuplot's picture, for screens on which the picture scrolls. */
void html_put_legend(FILE *out, const char *svg);

/* ---- html_table.c, html_svg.c, html_bars.c, html_data.c ---- */

void html_table(struct page *page, const struct report_table *table);
void html_picture(struct page *page, const struct page_picture *picture);
/* Opens a figure with its caption. */
void html_open_figure(FILE *out, const struct page_picture *picture);
void html_bars(struct page *page, const struct page_bars *bars);
void html_data(struct page *page, const struct report *report);

#endif
