/* SPDX-License-Identifier: MIT */
#include "reports/json/json.h"

#include "reports/model/layout.h"

static json_t *entry(const struct report *report, const struct report_efficiency *e) {
    return json_pack("{s:o, s:I, s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:s}",
                     "phase", json_text(e->phase), "ranks", (json_int_t)e->n_ranks, "elapsed_s",
                     json_number_or_null(e->elapsed_s), "useful_mean_s",
                     json_number_or_null(e->useful_mean_s), "useful_max_s",
                     json_number_or_null(e->useful_max_s), "longest_host",
                     json_text(layout_host(report, e->longest_host)), "longest_rank",
                     e->longest_rank, "parallel_pct", json_number_or_null(e->parallel_pct),
                     "load_balance_pct", json_number_or_null(e->load_balance_pct),
                     "communication_pct", json_number_or_null(e->communication_pct),
                     "serialisation_pct", json_number_or_null(e->serialisation_pct), "transfer_pct",
                     json_number_or_null(e->transfer_pct), "computing_pct",
                     json_number_or_null(e->computing_pct), "transfer_source", e->source);
}

json_t *json_efficiency(const struct report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->n_efficiency; i++)
        json_array_append_new(array, entry(report, &report->efficiency[i]));
    return array;
}
