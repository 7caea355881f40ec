/* SPDX-License-Identifier: MIT */
/*
 * The output of a section: a page of one format. Sections give all content; the page writes it in
 * its format, and skips parts for which the format has no room or no words. Texts are not escaped:
 * the format does that.
 */
#ifndef CHOKEPOINT_REPORTS_PAGE_H
#define CHOKEPOINT_REPORTS_PAGE_H

#include <stdio.h>

#include "reports/model/reported.h"
#include "reports/plot/pictures.h"
#include "reports/sections/table.h"

struct page;

enum style {
    STYLE_PLAIN,
    STYLE_LEAD, /* the main sentence */
    STYLE_NOTE  /* an explanation */
};

/* A word and its text, for readers: "limit", "vm1's network ...". text NULL: it is left out. */
struct page_field {
    const char *name, *text;
};

struct page_picture {
    const char *svg; /* NULL: `why` is an errno, as in plot.h */
    int why;
    const char *name; /* the plot's name in `chokepoint report --plot`; NULL: it has none */
    const char *caption, *finding; /* finding: a sentence that the picture shows; NULL */
    const char *link;              /* the file with the picture; NULL: there is none */
    int held; /* pixels at its left, of 980, with the names of rows: they stay when it scrolls */
};

/* Bars with the same parts: of each bar, the share of each part. Colours: "#2e9e4f". */
struct page_bars {
    const char *name, *caption, *finding; /* as of a picture */
    const char *const *parts, *const *colours;
    size_t n_parts;
    char *const *names; /* of the bars */
    const double *wholes_s;
    const double *shares; /* [bar * n_parts + part], 0 to 1 */
    size_t n;
};

/* Each format defines one in its own file. A function that is NULL: the format leaves this out. */
struct format {
    const char *name; /* text md html csv json */
    unsigned serves;  /* one of enum audience */
    enum report_room room;
    bool pictures;
    /* schema: of the document for programs. */
    void (*begin)(struct page *page, const char *title, const char *schema);
    void (*end)(struct page *page);
    void (*part)(struct page *page, const char *id, const char *title);
    void (*heading)(struct page *page, int level, const char *text); /* "": only a break */
    void (*paragraph)(struct page *page, enum style style, const char *text);
    void (*command)(struct page *page, const char *command);
    /* confidence 0: unknown. */
    void (*statement)(struct page *page, const char *state, double confidence,
                      const char *sentence);
    void (*fields)(struct page *page, const struct page_field *fields, size_t n);
    /* label NULL: no label */
    void (*list)(struct page *page, const char *label, char *const *items, size_t n);
    void (*table)(struct page *page, const struct report_table *table);
    void (*picture)(struct page *page, const struct page_picture *picture);
    void (*bars)(struct page *page, const struct page_bars *bars);
    void (*data)(struct page *page, const struct report *report); /* the data of its plots */
    void (*fold)(struct page *page, const char *title); /* shows the following content on demand */
    void (*unfold)(struct page *page);
    void (*record)(struct page *page, const char *id); /* begins an object in the array `id` */
    void (*record_end)(struct page *page);
};

struct page {
    const struct format *format;
    FILE *out;
    int error;    /* the first error, as a negative errno */
    void *state;  /* the format's own */
    size_t depth; /* of records, or the number of blocks */
    bool open;
    struct pictures pictures; /* pictures of the report that are not shown yet */
};

void page_begin(struct page *page, const struct format *format, FILE *out, const char *title,
                const char *schema);
/* Returns the first error: -ENOMEM, -EIO. */
int page_end(struct page *page);

bool page_is_for(const struct page *page, enum audience audience);
bool page_has_room(const struct page *page, enum report_room room);
bool page_draws(const struct page *page);

/* Begins a part, which lasts until the next one. id: letters by which links refer to it. */
void page_part(struct page *page, const char *id, const char *title);
void page_heading(struct page *page, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void page_break(struct page *page);
void page_paragraph(struct page *page, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void page_command(struct page *page, const char *command);
void page_statement(struct page *page, const char *state, double confidence, const char *sentence);
void page_fields(struct page *page, const struct page_field *fields, size_t n);
/* Writes a list; without items nothing. */
void page_list(struct page *page, const char *label, char *const *items, size_t n);
/* Writes the table and takes it over. */
void page_table(struct page *page, struct report_table *table);
/* Draws the plot under its title if the format has pictures, and takes it over; plot NULL: errno
 * says why. finding: a sentence for it, taken over, too; may be NULL. */
struct plot;
void page_picture(struct page *page, struct plot *plot);
void page_picture_found(struct page *page, struct plot *plot, char *finding);
/* Adds a picture that is already drawn. */
void page_drawn(struct page *page, const struct page_picture *picture);
void page_bars(struct page *page, const struct page_bars *bars);
void page_data(struct page *page, const struct report *report);
void page_fold(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
void page_unfold(struct page *page);
void page_record(struct page *page, const char *id);
void page_record_end(struct page *page);

#endif
