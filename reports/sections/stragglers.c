/* SPDX-License-Identifier: MIT */
/* Ranks that fell behind their peers, and why. */
#include "reports/model/layout.h"
#include "reports/sections/sections.h"

enum { WORDS = 5, CULPRIT = 12 };

static const struct report_column columns[] = {
    {KIND_RANK, "rank", "rank", FIELD(report_straggler, rank)},
    {KIND_HOST, "host", "host", FIELD(report_straggler, host)},
    {KIND_TEXT, "kind", "kind", FIELD(report_straggler, kind)},
    {KIND_NUMBER, "slowdown", "times its peers' median", FIELD(report_straggler, slowdown)},
    {KIND_NUMBER, "iterations_pct", "iterations", "%", FIELD(report_straggler, iterations_pct),
     .digits = DIGITS_NONE},
    [WORDS] = {KIND_PROSE, NULL, "probable cause", COMPUTED},
    {KIND_TEXT, "cause", FIELD(report_straggler, cause)},
    {KIND_NUMBER, "explained_pct", FIELD(report_straggler, explained_pct)},
    {KIND_LIST, "evidence", "evidence", FIELD_TEXTS(report_straggler, evidence)},
    {KIND_NUMBER, "severity", FIELD(report_straggler, severity)},
    {KIND_NUMBER, "severity_max", FIELD(report_straggler, severity_max)},
    {KIND_TEXT, "cause_kind", FIELD(report_straggler, cause_kind)},
    [CULPRIT] = CULPRIT_COLUMNS,
};

void section_stragglers(const struct report *report, struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "stragglers", report, columns);
    TABLE_ADD_ALL(&table, report->stragglers, report->n_stragglers);
    table_title(&table, "Stragglers");
    for (size_t i = 0; i < report->n_stragglers; i++) {
        const struct report_straggler *s = &report->stragglers[i];
        char gain[120];
        layout_straggler_gain(gain, sizeof gain, report, s);
        table_text(&table, i, WORDS, "%s%s", s->cause, gain);
        section_put_culprit(&table, i, CULPRIT, s->culprit, s->culprit_pid, s->host);
    }
    page_table(page, &table);
}
