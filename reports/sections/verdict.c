/* SPDX-License-Identifier: MIT */
/* V1: the limit of the run, the evidence for and against it, and the other candidates. */
#include <math.h>

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

/* ---- what else was weighed ---- */

enum { RANKED_RESOURCE = 2, RANKED_CAUSE, RANKED_STATE, RANKED_GAIN, RANKED_BLOCKED };

static const struct report_column ranked[] = {
    {KIND_HOST, "host", FIELD(candidate, host)},
    {KIND_RANK, "rank", FIELD(candidate, rank)},
    [RANKED_RESOURCE] = {KIND_TEXT, "resource", COMPUTED},
    [RANKED_CAUSE] = {KIND_TEXT, "cause_kind", COMPUTED},
    [RANKED_STATE] = {KIND_STATE, "state", COMPUTED},
    [RANKED_GAIN] = {KIND_NUMBER, "gain_pct", COMPUTED},
    [RANKED_BLOCKED] = {KIND_NUMBER, "blocked_pct", COMPUTED},
};

static void put_ranked(struct report_table *table, const struct candidate *c) {
    const struct gain *gain = candidate_gain(c);
    bool told = gain->replayed || gain->counted;
    enum verdict_state state = c->saturated ? VERDICT_SATURATED : VERDICT_SUSPECTED;
    size_t row = table_add(table, c);
    table_borrow(table, row, RANKED_RESOURCE, resource_name(c->resource));
    table_borrow(table, row, RANKED_CAUSE, cause_name(c->kind));
    table_borrow(table, row, RANKED_STATE, verdict_state_name(state));
    table_number(table, row, RANKED_GAIN, told ? 100 * gain->estimate : NAN);
    table_number(table, row, RANKED_BLOCKED, 100 * c->run_share);
}

/* Candidates that count more in another phase are left to that phase's verdict. */
void section_ranking(const struct report *report, struct page *page) {
    const struct candidates *candidates = &report->run->judgement.candidates;
    struct report_table table;
    TABLE_INIT(&table, "ranking", report, ranked);
    table.audience = FOR_DOCUMENT;
    for (size_t i = 0; i < candidates->n; i++)
        if (!candidates->items[i].repeated)
            put_ranked(&table, &candidates->items[i]);
    page_table(page, &table);
}
