/* SPDX-License-Identifier: MIT */
/*
 * Gains of changes, side by side: the answers of the what-if engine on which the verdict rests,
 * each with its command. Two changes at once, and a change at several factors, have separate
 * answers.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/error.h"
#include "reports/plot/gains.h"
#include "reports/says/commands.h"
#include "reports/says/text_list.h"
#include "reports/sections/sections.h"

#define SHOWN_ON_SCREEN 4

#define GAIN_COLUMNS(record)                                                                       \
    {KIND_NUMBER, "gain_pct" INTO "estimate", FIELD(record, gain_pct)},                            \
        {KIND_NUMBER, "gain_pct" INTO "low", FIELD(record, low_pct)}, {                            \
        KIND_NUMBER, "gain_pct" INTO "high", FIELD(record, high_pct)                               \
    }

enum { LETTER, CHANGE, GAIN, ASK = 6 };

static const struct report_column columns[] = {
    [LETTER] = {KIND_WORD, "letter", "", COMPUTED},
    [CHANGE] = {KIND_TEXT, "change", "change", NULL, FIELD(report_change, change), .shrinks = true},
    [GAIN] = {KIND_FIGURES, NULL, "run time", NULL, COMPUTED},
    {KIND_WORD, "source", "by", NULL, FIELD(report_change, source)},
    {KIND_PROSE, "limit", "what it relieves", NULL, FIELD(report_change, limit), .room = ROOM_PAGE},
    {KIND_TEXT, "scenario", FIELD(report_change, options)},
    [ASK] = {KIND_PROSE, NULL, "ask again", NULL, COMPUTED},
    {KIND_FLAG, "advised", FIELD(report_change, advised)},
    GAIN_COLUMNS(report_change),
};

static void put_gain(struct report_table *table, size_t row, size_t column, double gain, double low,
                     double high) {
    if (isnan(gain))
        return;
    if (isnan(low) || high - low < 1)
        table_text(table, row, column, "%.0f %%", -gain);
    else
        table_text(table, row, column, "%.0f %% (%.0f to %.0f)", -gain, -low, -high);
}

/* Writes the command that asks the question, ready to paste. */
static void put_question(struct report_table *table, size_t row, size_t column,
                         const struct report *report, const char *options) {
    AUTO(text_free) char *words = options ? text_format("{run} %s", options) : NULL;
    AUTO(text_free)
    char *command =
        words ? command_words(&report->caller, (struct command){"whatif", words}) : NULL;
    if (command)
        table_text(table, row, column, "`%s`", command);
}

static bool is_any_advised(const struct changes *all) {
    for (size_t i = 0; i < all->n; i++)
        if (all->single[i].advised)
            return true;
    return false;
}

static void put_single(const struct changes *all, const struct report *report, struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "changes", report, columns);
    TABLE_ADD_ALL(&table, all->single, all->n);
    table.audience = FOR_READERS | FOR_DOCUMENT;
    for (size_t i = 0; i < all->n && !table.failed; i++) {
        const struct report_change *c = &all->single[i];
        if (c->letter)
            table_text(&table, i, LETTER, "%c", c->letter);
        if (c->advised)
            table_cell(&table, i, CHANGE)->mark = "established";
        put_gain(&table, i, GAIN, c->gain_pct, c->low_pct, c->high_pct);
        put_question(&table, i, ASK, report, c->options);
        table.rows[i].room = i < SHOWN_ON_SCREEN || c->advised ? ROOM_SCREEN : ROOM_PAGE;
    }
    if (page_draws(page))
        table.empty = "No change on one host is known to make the run shorter.";
    else
        table_title(&table, "Gains of changes");
    if (all->n)
        table_note(&table, "Each line is one change alone; gains do not add up.%s",
                   is_any_advised(all) && page_draws(page)
                       ? " The verdict's gain is that of the line in bold."
                       : "");
    page_table(page, &table);
}

/* ---- two at once ---- */

enum { BOTH, GAIN_OF_BOTH = 2, ASK_BOTH = 5 };

static const struct report_column of_two[] = {
    [BOTH] = {KIND_WORD, "letters", "together", COMPUTED},
    {KIND_TEXT, "changes", NULL, COMPUTED},
    [GAIN_OF_BOTH] = {KIND_FIGURES, NULL, "run time", NULL, COMPUTED},
    {KIND_WORD, "source", "by", NULL, FIELD(report_together, source)},
    {KIND_TEXT, "scenario", FIELD(report_together, options)},
    [ASK_BOTH] = {KIND_PROSE, NULL, "ask again", NULL, COMPUTED, .room = ROOM_PAGE},
    GAIN_COLUMNS(report_together),
};

static void put_together(const struct changes *all, const struct report *report,
                         struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "changes_together", report, of_two);
    TABLE_ADD_ALL(&table, all->together, all->n_together);
    table.audience = FOR_READERS | FOR_DOCUMENT;
    table.level = 3;
    for (size_t i = 0; i < all->n_together && !table.failed; i++) {
        const struct report_together *t = &all->together[i];
        const struct report_change *first = &all->single[t->first],
                                   *second = &all->single[t->second];
        table_text(&table, i, BOTH, "%c + %c", first->letter, second->letter);
        table_text(&table, i, BOTH + 1, "%s; %s", first->change, second->change);
        put_gain(&table, i, GAIN_OF_BOTH, t->gain_pct, t->low_pct, t->high_pct);
        put_question(&table, i, ASK_BOTH, report, t->options);
    }
    table_title(&table, "Two changes at once");
    page_table(page, &table);
}

/* ---- at several factors ---- */

enum { WHAT, FACTOR_GAIN = 2 };

static const struct report_column by_factor[] = {
    [WHAT] = {KIND_TEXT, "change", "change", COMPUTED},
    {KIND_NUMBER, "factor", "times", FIELD(report_factor, factor)},
    [FACTOR_GAIN] = {KIND_FIGURES, NULL, "run time", NULL, COMPUTED},
    {KIND_TEXT, "scenario", FIELD(report_factor, options)},
    GAIN_COLUMNS(report_factor),
};

static void put_factors(const struct changes *all, const struct report *report, struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "changes_by_factor", report, by_factor);
    table.audience = FOR_READERS | FOR_DOCUMENT;
    table.level = 3;
    table.picture_text = true;
    for (size_t i = 0; i < all->n_factors; i++)
        for (size_t k = 0; k < all->factors[i].n && !table.failed; k++) {
            const struct report_factor *point = &all->factors[i].points[k];
            size_t row = table_add(&table, point);
            table_borrow(&table, row, WHAT, all->factors[i].what);
            put_gain(&table, row, FACTOR_GAIN, point->gain_pct, point->low_pct, point->high_pct);
        }
    table_title(&table, "One change at several factors");
    page_table(page, &table);
}

static void draw_factors(const struct changes *all, struct page *page) {
    for (size_t i = 0; i < all->n_factors; i++) {
        const struct report_factors *f = &all->factors[i];
        char *svg = f->n ? gains_draw(f) : NULL;
        AUTO(text_free) char *caption = text_format("Run time by the factor of %s", f->what);
        if (svg && caption)
            page_drawn(page,
                       &(struct page_picture){.svg = svg, .caption = caption, .held = GAINS_LEFT});
        else if (f->n)
            page->error = page->error ? page->error : -ENOMEM;
        free(svg);
    }
}

void changes_put(const struct changes *all, const struct report *report, struct page *page) {
    put_single(all, report, page);
    put_together(all, report, page);
    put_factors(all, report, page);
    if (page_draws(page))
        draw_factors(all, page);
}

void section_changes(const struct report *report, struct page *page) {
    struct changes all = {0};
    int result = changes_ask(&report->run->judgement, &all);
    page->error = page->error ? page->error : result;
    changes_put(&all, report, page);
    changes_release(&all);
}
