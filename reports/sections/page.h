/* SPDX-License-Identifier: MIT */
/*
 * The output of a section: a page of one format. Sections say what there is to say; the page knows
 * how its format says it, and skips what the format has no room or no words for. Texts come as they
 * are: escaping is the format's.
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
    STYLE_LEAD, /* the sentence that matters */
    STYLE_NOTE  /* what explains */
};

/* A word and what it says, for readers: "limit", "vm1's network ...". text NULL: it is left out. */
struct page_field {
    const char *name, *text;
};

struct page_picture {
    const char *svg; /* NULL: why, an errno as plot.h has it */
    int why;
    const char
        *name; /* what it is of, as `chokepoint report --plot` has it; NULL: nothing of these */
    const char *caption, *finding; /* finding: what it shows, in a sentence; NULL */
    const char *link;              /* where it lies as a file; NULL: nowhere */
};

/* One file a format defines one of these. A function that is NULL: the format has nothing of it. */
struct format {
    const char *name; /* text md html csv json */
    unsigned serves;  /* one of enum audience */
    enum report_room room;
    bool pictures;
    /* schema: of a document for programs. */
    void (*begin)(struct page *page, const char *title, const char *schema);
    void (*end)(struct page *page);
    void (*part)(struct page *page, const char *id, const char *title);
    void (*heading)(struct page *page, int level, const char *text); /* "": a break without words */
    void (*paragraph)(struct page *page, enum style style, const char *text);
    void (*command)(struct page *page, const char *command);
    /* confidence 0: not known. */
    void (*statement)(struct page *page, const char *state, double confidence,
                      const char *sentence);
    void (*fields)(struct page *page, const struct page_field *fields, size_t n);
    /* label NULL: none */
    void (*list)(struct page *page, const char *label, char *const *items, size_t n);
    void (*table)(struct page *page, const struct report_table *table);
    void (*picture)(struct page *page, const struct page_picture *picture);
    void (*data)(struct page *page, const struct report *report); /* what its plots are made of */
    void (*fold)(struct page *page, const char *title); /* what is between is shown on demand */
    void (*unfold)(struct page *page);
    void (*record)(struct page *page, const char *id); /* an object of the array of that name */
    void (*record_end)(struct page *page);
};

struct page {
    const struct format *format;
    FILE *out;
    int error;    /* the first, as a negative errno */
    void *state;  /* the format's own */
    size_t depth; /* of records, or how many blocks there were */
    bool open;
    struct pictures pictures; /* of the report that are yet to be shown */
};

void page_begin(struct page *page, const struct format *format, FILE *out, const char *title,
                const char *schema);
/* The first error: -ENOMEM, -EIO. */
int page_end(struct page *page);

bool page_is_for(const struct page *page, enum audience audience);
bool page_has_room(const struct page *page, enum report_room room);
bool page_draws(const struct page *page);

/* Begins a part, which lasts until the next one. id: letters, to refer to it. */
void page_part(struct page *page, const char *id, const char *title);
void page_heading(struct page *page, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void page_break(struct page *page);
void page_paragraph(struct page *page, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void page_command(struct page *page, const char *command);
void page_statement(struct page *page, const char *state, double confidence, const char *sentence);
void page_fields(struct page *page, const struct page_field *fields, size_t n);
/* Nothing without items. */
void page_list(struct page *page, const char *label, char *const *items, size_t n);
/* Takes the table over. */
void page_table(struct page *page, struct report_table *table);
/* Draws the plot under its title, where the format has pictures, and takes it over; NULL: errno
 * says why there is none. finding: a sentence for it, taken over, too; NULL. */
struct plot;
void page_picture(struct page *page, struct plot *plot);
void page_picture_found(struct page *page, struct plot *plot, char *finding);
/* One that is drawn already. */
void page_drawn(struct page *page, const struct page_picture *picture);
void page_data(struct page *page, const struct report *report);
void page_fold(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
void page_unfold(struct page *page);
void page_record(struct page *page, const char *id);
void page_record_end(struct page *page);

#endif
