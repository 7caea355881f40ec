/* SPDX-License-Identifier: MIT */
/* V1: what limits the run, what speaks for and against it; and what else was weighed. */
#include "reports/sections/sections.h"

enum { STATE, CULPRIT = 8, WORTH = 19, DO };

static const struct report_column columns[] = {
    [STATE] = {KIND_STATE, "state", COMPUTED},
    {KIND_TEXT, "subject", FIELD(report_verdict, subject)},
    {KIND_HOST, "host", FIELD(report_verdict, host)},
    {KIND_RANK, "rank", FIELD(report_verdict, rank)},
    {KIND_TEXT, "resource", FIELD(report_verdict, resource)},
    {KIND_TEXT, "cause", FIELD(report_verdict, cause)},
    {KIND_TEXT, "cause_kind", FIELD(report_verdict, cause_kind)},
    {KIND_TEXT, "gain_pct" INTO "source", FIELD(report_verdict, gain_source)},
    [CULPRIT] = CULPRIT_COLUMNS,
    {KIND_NUMBER, "start_s", FIELD(report_verdict, start_s)},
    {KIND_NUMBER, "end_s", FIELD(report_verdict, end_s)},
    {KIND_NUMBER, "confidence", FIELD(report_verdict, confidence)},
    {KIND_NUMBER, "confidence_computed", FIELD(report_verdict, confidence_computed)},
    {KIND_NUMBER, "gain_pct" INTO "estimate", FIELD(report_verdict, gain_pct)},
    {KIND_NUMBER, "gain_pct" INTO "low", FIELD(report_verdict, gain_low_pct)},
    {KIND_NUMBER, "gain_pct" INTO "high", FIELD(report_verdict, gain_high_pct)},
    {KIND_TEXT, "limit", FIELD(report_verdict, limit)},
    [WORTH] = {KIND_TEXT, "worth", COMPUTED},
    [DO] = {KIND_TEXT, "do", COMPUTED},
    {KIND_TEXT, "summary", FIELD(report_verdict, summary)},
    {KIND_LIST, "evidence", FIELD_TEXTS(report_verdict, evidence)},
    {KIND_LIST, "against", FIELD_TEXTS(report_verdict, against)},
    {KIND_LIST, "ruled_out", FIELD_TEXTS(report_verdict, ruled_out)},
    {KIND_LIST, "next", FIELD_TEXTS(report_verdict, next)},
};

void verdict_put(const struct report *report, struct page *page) {
    const struct report_verdict *v = &report->verdict;
    page_statement(page, verdict_state_name(v->state), v->confidence, v->summary);
    page_list(page, "evidence", v->evidence, v->n_evidence);
    page_list(page, "against it", v->against, v->n_against);
    page_list(page, "ruled out", v->ruled_out, v->n_ruled_out);
    page_list(page, "next", v->next, v->n_next);
}

void section_verdict(const struct report *report, struct page *page) {
    const struct report_verdict *v = &report->verdict;
    struct report_table table;
    TABLE_INIT(&table, "verdict", report, columns);
    table_add(&table, v);
    table.shape = SHAPE_ONE;
    table.audience = FOR_DOCUMENT;
    table_borrow(&table, 0, STATE, verdict_state_name(v->state));
    table_borrow(&table, 0, WORTH, v->worth && *v->worth ? v->worth : NULL);
    table_borrow(&table, 0, DO, v->n_next ? v->next[0] : NULL);
    section_put_culprit(&table, 0, CULPRIT, v->culprit, v->culprit_pid, v->host);
    page_table(page, &table);
    page_break(page);
    verdict_put(report, page);
}

enum { RANKED_STATE = 4 };

static const struct report_column ranked[] = {
    {KIND_HOST, "host", FIELD(report_rank_entry, host)},
    {KIND_RANK, "rank", FIELD(report_rank_entry, rank)},
    {KIND_TEXT, "resource", FIELD(report_rank_entry, resource)},
    {KIND_TEXT, "cause_kind", FIELD(report_rank_entry, cause_kind)},
    [RANKED_STATE] = {KIND_STATE, "state", COMPUTED},
    {KIND_NUMBER, "gain_pct", FIELD(report_rank_entry, gain_pct)},
    {KIND_NUMBER, "blocked_pct", FIELD(report_rank_entry, blocked_pct)},
};

void section_ranking(const struct report *report, struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "ranking", report, ranked);
    TABLE_ADD_ALL(&table, report->ranking, report->n_ranking);
    table.audience = FOR_DOCUMENT;
    for (size_t i = 0; i < report->n_ranking; i++)
        table_borrow(&table, i, RANKED_STATE, verdict_state_name(report->ranking[i].state));
    page_table(page, &table);
}
