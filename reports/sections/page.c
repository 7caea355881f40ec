/* SPDX-License-Identifier: MIT */
/* Work common to all formats: makes texts, leaves out content for other audiences, keeps errors. */
#include "reports/sections/page.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "reports/plot/plot.h"

/* Calls a function of the format if it exists. */
#define SAY(page, function, ...)                                                                   \
    do {                                                                                           \
        if ((page)->format->function)                                                              \
            (page)->format->function(__VA_ARGS__);                                                 \
    } while (0)

/* The text made of a format and its values, as `said`; freed at the end of the function. */
static void free_text(char **text) {
    free(*text);
}

#define TEXT_OF(page, format)                                                                      \
    __attribute__((cleanup(free_text))) char *said = NULL;                                         \
    do {                                                                                           \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        if (vasprintf(&said, format, args) < 0)                                                    \
            said = NULL;                                                                           \
        va_end(args);                                                                              \
        if (!said) {                                                                               \
            (page)->error = (page)->error ? (page)->error : -ENOMEM;                               \
            return;                                                                                \
        }                                                                                          \
    } while (0)

void page_begin(struct page *page, const struct format *format, FILE *out, const char *title,
                const char *schema) {
    *page = (struct page){.format = format, .out = out};
    SAY(page, begin, page, title, schema);
}

int page_end(struct page *page) {
    pictures_release(&page->pictures);
    SAY(page, end, page);
    return page->error ? page->error : ferror(page->out) ? -EIO : 0;
}

bool page_is_for(const struct page *page, enum audience audience) {
    return page->format->serves == (unsigned)audience;
}

bool page_has_room(const struct page *page, enum report_room room) {
    return page_is_for(page, FOR_READERS) && page->format->room >= room;
}

bool page_draws(const struct page *page) {
    return page->format->pictures;
}

void page_part(struct page *page, const char *id, const char *title) {
    SAY(page, part, page, id, title);
}

void page_heading(struct page *page, int level, const char *format, ...) {
    TEXT_OF(page, format);
    SAY(page, heading, page, level, said);
}

void page_break(struct page *page) {
    SAY(page, heading, page, 2, "");
}

void page_paragraph(struct page *page, enum style style, const char *format, ...) {
    TEXT_OF(page, format);
    SAY(page, paragraph, page, style, said);
}

void page_command(struct page *page, const char *command) {
    SAY(page, command, page, command);
}

void page_statement(struct page *page, const char *state, double confidence, const char *sentence) {
    SAY(page, statement, page, state, confidence, sentence);
}

void page_fields(struct page *page, const struct page_field *fields, size_t n) {
    SAY(page, fields, page, fields, n);
}

void page_list(struct page *page, const char *label, char *const *items, size_t n) {
    if (n)
        SAY(page, list, page, label, items, n);
}

/* Shows a table's title, rows and note to readers. */
static void show(struct page *page, const struct report_table *table) {
    size_t rows = table_rows_shown(table, page->format->room);
    if ((!rows && !table->empty) || (table->picture_text && page->format->pictures))
        return;
    if (table->title)
        SAY(page, heading, page, table->level, table->title);
    if (rows)
        SAY(page, table, page, table);
    else
        SAY(page, paragraph, page, STYLE_NOTE, table->empty);
    if (table->note)
        SAY(page, paragraph, page, STYLE_NOTE, table->note);
}

void page_table(struct page *page, struct report_table *table) {
    if (table->failed)
        page->error = page->error ? page->error : -ENOMEM;
    else if (table->audience & page->format->serves & FOR_READERS)
        show(page, table);
    else if (table->audience & page->format->serves)
        SAY(page, table, page, table);
    table_release(table);
}

void page_picture_found(struct page *page, struct plot *plot, char *finding) {
    char *svg = page_draws(page) && plot ? plot_svg(plot) : NULL;
    int why = errno;
    if (page_draws(page) && plot)
        SAY(page, picture, page,
            &(struct page_picture){.svg = svg,
                                   .why = why,
                                   .name = plot_name(plot),
                                   .caption = plot_title(plot),
                                   .held = plot_held(plot),
                                   .finding = finding});
    else if (!plot && why != ENODATA)
        page->error = page->error ? page->error : -why;
    free(svg);
    free(finding);
    plot_free(plot);
}

void page_picture(struct page *page, struct plot *plot) {
    page_picture_found(page, plot, NULL);
}

void page_drawn(struct page *page, const struct page_picture *picture) {
    if (picture->svg || picture->why != ENODATA)
        SAY(page, picture, page, picture);
}

void page_bars(struct page *page, const struct page_bars *bars) {
    if (bars->n)
        SAY(page, bars, page, bars);
}

void page_data(struct page *page, const struct report *report) {
    SAY(page, data, page, report);
}

void page_fold(struct page *page, const char *format, ...) {
    TEXT_OF(page, format);
    SAY(page, fold, page, said);
}

void page_unfold(struct page *page) {
    SAY(page, unfold, page);
}

void page_record(struct page *page, const char *id) {
    SAY(page, record, page, id);
}

void page_record_end(struct page *page) {
    SAY(page, record_end, page);
}
