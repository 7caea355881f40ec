/* SPDX-License-Identifier: MIT */
/* Gains of changes: the answers of the what-if engine on which the verdict rests. */
#include <math.h>
#include <stdlib.h>

#include "common/error.h"
#include "reports/sections/sections.h"
#include "reports/words/commands.h"
#include "reports/words/text_list.h"

#define SHOWN 12

enum { WITHOUT = 1, TWICE = 2, ASK = 3 };

static const struct report_column columns[] = {
    {KIND_PROSE, NULL, "what limits", NULL, FIELD(report_change, what)},
    [WITHOUT] = {KIND_FIGURES, NULL, "run time without it", NULL, COMPUTED},
    [TWICE] = {KIND_FIGURES, NULL, "with twice of it", NULL, COMPUTED},
    [ASK] = {KIND_PROSE, NULL, "ask again", NULL, COMPUTED},
};

static void put_gain(struct report_table *table, size_t row, size_t column, double gain, double low,
                     double high) {
    if (isnan(gain))
        return;
    if (isnan(low) || high - low < 1)
        table_text(table, row, column, "%+.0f %%", -gain);
    else
        table_text(table, row, column, "%+.0f %% (%.0f to %.0f)", -gain, -low, -high);
}

/* The command that asks it, as it can be pasted. */
static void put_question(struct report_table *table, size_t row, const struct report *report,
                         const char *options) {
    AUTO(text_free) char *words = options ? text_format("whatif {run} %s", options) : NULL;
    AUTO(text_free) char *command = words ? commands_line(words, report->run_id) : NULL;
    if (command)
        table_text(table, row, ASK, "`%s`", command);
}

void section_changes(const struct report *report, struct page *page) {
    struct report_table table;
    if (!page_draws(page))
        return;
    TABLE_INIT(&table, NULL, report, columns);
    table.audience = FOR_READERS;
    for (size_t i = 0; i < report->n_changes && i < SHOWN; i++) {
        const struct report_change *c = &report->changes[i];
        size_t row = table_add(&table, c);
        put_gain(&table, row, WITHOUT, c->gain_pct, c->low_pct, c->high_pct);
        put_gain(&table, row, TWICE, c->twice_pct, c->twice_low_pct, c->twice_high_pct);
        put_question(&table, row, report, c->doubled ? c->doubled : c->without);
    }
    table.empty = "No change on one host is known to make the run shorter.";
    table_note(&table, "Each line is one change alone; gains do not add up.%s",
               report->n_changes ? "" : " ");
    page_table(page, &table);
}
