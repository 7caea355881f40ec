/* SPDX-License-Identifier: MIT */
/* Shared by the files of the HTML format. */
#ifndef CHOKEPOINT_REPORTS_HTML_PRIVATE_H
#define CHOKEPOINT_REPORTS_HTML_PRIVATE_H

#include "reports/formats/formats.h"

/* The page's own: its body is collected, so that the contents can stand before what they name. */
struct html {
    FILE *out; /* the page's, while its body is being collected */
    char *body;
    size_t size, contents_at; /* where in the body the contents go; 0: before all of it */
    struct html_entry *entries;
    size_t n_entries, n_headings, n_scrolls;
    const char *part_id, *part_title; /* of the part; it begins with the first thing in it */
    bool in_part, defined;            /* defined: the marks that plots refer to are there */
    char title[96];                   /* of the table that comes next */
};

/* ---- html_text.c ---- */

/* Text from anywhere as text of the page: nothing in it is a tag, an entity or a control. */
void html_put(FILE *out, const char *text);
/* The same of a sentence of ours, in which `this` is a command. */
void html_put_words(FILE *out, const char *text);
/* class may be NULL. */
void html_put_element(FILE *out, const char *tag, const char *class, const char *text);
void html_put_sentence(FILE *out, const char *tag, const char *class, const char *text);
void html_put_items(FILE *out, char *const *items, size_t n);

/* ---- html_contents.c ---- */

void html_begin(struct page *page, const char *title, const char *schema);
void html_end(struct page *page);
/* Content above the first heading of level 2, or part, is on no card. */
void html_open_card(struct page *page);
void html_close_part(struct page *page);
void html_part(struct page *page, const char *id, const char *title);
void html_heading(struct page *page, int level, const char *text);
/* Something that is wider than a telephone scrolls on its own, also by keyboard. */
void html_open_scroll(struct page *page, const char *what, const char *name);

/* ---- html_path.c ---- */

/* The data of a path of gnuplot's, of which "d='M" stands there: without what is around it.
 * Returns where they end, NULL: nothing was written. */
const char *html_put_line(FILE *out, const char *at);
/* Polygons of one look that follow one another at this place, as data of one path; and their
 * element's attributes but for the points. Returns what is behind them, NULL: there are none. */
const char *html_put_areas(FILE *out, const char *at, const char **ret_look, size_t *ret_n);

/* ---- html_table.c, html_svg.c, html_data.c ---- */

void html_table(struct page *page, const struct report_table *table);
void html_picture(struct page *page, const struct page_picture *picture);
void html_data(struct page *page, const struct report *report);

#endif
