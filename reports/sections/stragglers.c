/* SPDX-License-Identifier: MIT */
/* Ranks that fell behind their peers, and why. */
#include <stdlib.h>

#include "common/error.h"
#include "reports/model/layout.h"
#include "reports/says/remark_words.h"
#include "reports/sections/sections.h"

enum { ITERATIONS = 4, WORDS, CAUSE, EXPLAINED, EVIDENCE, KIND = 11, CULPRIT };

static const struct report_column columns[] = {
    {KIND_RANK, "rank", "rank", FIELD(straggler, rank)},
    {KIND_HOST, "host", "host", FIELD(straggler, host)},
    {KIND_TEXT, "kind", "kind", FIELD(straggler, kind)},
    {KIND_NUMBER, "slowdown", "times its peers' median", FIELD(straggler, slowdown)},
    [ITERATIONS] = {KIND_NUMBER, "iterations_pct", "iterations", "%", COMPUTED,
                    .digits = DIGITS_NONE},
    [WORDS] = {KIND_PROSE, NULL, "probable cause", COMPUTED},
    [CAUSE] = {KIND_TEXT, "cause", COMPUTED},
    [EXPLAINED] = {KIND_NUMBER, "explained_pct", COMPUTED},
    [EVIDENCE] = {KIND_LIST, "evidence", "evidence", COMPUTED},
    {KIND_NUMBER, "severity", FIELD(straggler, severity)},
    {KIND_NUMBER, "severity_max", FIELD(straggler, severity_max)},
    [KIND] = {KIND_TEXT, "cause_kind", COMPUTED},
    [CULPRIT] = CULPRIT_COLUMNS,
};

static void put_straggler_row(struct report_table *table, const struct report *report,
                              const struct straggler *s, struct text_list *evidence) {
    AUTO(text_free) char *cause = remark_words(&s->cause);
    char gain[120];
    size_t row = table_add(table, s);
    layout_straggler_gain(gain, sizeof gain, report, s);
    remarks_say(&s->evidence, evidence);
    table->failed |= !cause || evidence->error;
    table_number(table, row, ITERATIONS, 100 * s->flagged);
    table_text(table, row, WORDS, "%s%s", cause ? cause : "", gain);
    table_text(table, row, CAUSE, "%s", cause ? cause : "");
    table_number(table, row, EXPLAINED, 100 * s->explained);
    table_items(table, row, EVIDENCE, evidence->items, evidence->n);
    table_borrow(table, row, KIND, cause_name(s->cause_kind));
    section_put_culprit(table, row, CULPRIT, s->culprit, s->culprit_pid, s->host);
}

void section_stragglers(const struct report *report, struct page *page) {
    const struct stragglers *stragglers = &report->run->judgement.stragglers;
    struct text_list *evidence = calloc(stragglers->n + 1, sizeof *evidence);
    struct report_table table;
    TABLE_INIT(&table, "stragglers", report, columns);
    table.failed |= !evidence;
    table_title(&table, "Stragglers");
    for (size_t i = 0; evidence && i < stragglers->n; i++)
        put_straggler_row(&table, report, &stragglers->items[i], &evidence[i]);
    page_table(page, &table);
    for (size_t i = 0; evidence && i < stragglers->n; i++)
        text_list_release(&evidence[i]);
    free(evidence);
}
