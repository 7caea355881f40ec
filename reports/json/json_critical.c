/* SPDX-License-Identifier: MIT */
#include "reports/json/json.h"
#include "reports/model/layout.h"

static json_t *host_name(const struct report *report, int host) {
    return host < 0 ? json_null() : json_text(layout_host(report, host));
}

json_t *json_critical_path(const struct report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->n_critical; i++) {
        const struct report_critical *c = &report->critical[i];
        json_array_append_new(
            array, json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:s}", "phase", json_text(c->phase),
                             "host", host_name(report, c->host), "term", budget_term_name(c->term),
                             "to_host", host_name(report, c->to_host), "seconds",
                             json_number_or_null(c->seconds), "share_pct",
                             json_number_or_null(c->share_pct), "source", report->critical_source));
    }
    return array;
}
