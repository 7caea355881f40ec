/* SPDX-License-Identifier: MIT */
/* T8 in the JSON of a report. */
#include "reports/json/json.h"
#include "reports/model/layout.h"

static json_t *rank_or_null(int rank) {
    return rank < 0 ? json_null() : json_integer(rank);
}

static json_t *host_or_null(const struct report *report, int host) {
    return host < 0 ? json_null() : json_text(layout_host(report, host));
}

json_t *json_operators(const struct report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->n_operators; i++) {
        const struct report_operator *o = &report->operators[i];
        json_array_append_new(
            array, json_pack("{s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
                             json_text(o->name), "role", json_text(o->role), "ranks",
                             (json_int_t)o->n_ranks, "calls", (json_int_t)o->calls, "output_bytes",
                             json_number_or_null(o->output_bytes), "total_s",
                             json_number_or_null(o->total_s), "mean_s",
                             json_number_or_null(o->mean_s), "p95_s", json_number_or_null(o->p95_s),
                             "longest_s", json_number_or_null(o->longest_s), "share_pct",
                             json_number_or_null(o->share_pct)));
    }
    return array;
}

static json_t *bars(const struct report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->timeline.n_bars; i++) {
        const struct report_bar *bar = &report->timeline.bars[i];
        json_array_append_new(
            array, json_pack("{s:o, s:o, s:o, s:f, s:f}", "rank", rank_or_null(bar->rank), "host",
                             host_or_null(report, bar->host), "operator", json_text(bar->name),
                             "start_s", bar->start_s, "end_s", bar->end_s));
    }
    return array;
}

json_t *json_timeline(const struct report *report) {
    const struct report_timeline *t = &report->timeline;
    if (!t->n_bars)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:f, s:f, s:o, s:I}", "rank", rank_or_null(t->rank), "host",
                     host_or_null(report, t->host), "number",
                     t->number < 0 ? json_null() : json_integer(t->number), "start_s", t->start_s,
                     "duration_s", t->duration_s, "bars", bars(report), "bars_left_out",
                     (json_int_t)t->n_bars_left_out);
}
