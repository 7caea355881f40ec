/* SPDX-License-Identifier: MIT */
/* The contract chokepoint.compare/1 (docs/report-json.md). */
#include "reports/json.h"

#include "reports/layout.h"

static json_t *numbers(const double *values, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_number_or_null(values[i]));
    return array;
}

static json_t *judgements(char *const *values, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_text(values[i]));
    return array;
}

static json_t *rows(const struct comparison *c, const struct comparison_row *items, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct comparison_row *row = &items[i];
        json_t *host =
            row->host < 0 ? json_null() : json_text(layout_host(c->runs[c->baseline], row->host));
        json_array_append_new(array, json_pack("{s:o, s:o, s:s, s:o, s:o, s:o}", "label",
                                               json_text(row->label), "host", host, "unit",
                                               row->unit, "values", numbers(row->value, c->n),
                                               "differences", numbers(row->difference, c->n),
                                               "judgements", judgements(row->judgement, c->n)));
    }
    return array;
}

int json_write_comparison(const struct comparison *c, FILE *out) {
    json_t *runs = json_array(), *notes = json_array();
    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(runs, json_pack("{s:o, s:o, s:o}", "run", json_run(c->runs[i]),
                                              "verdict", json_verdict(c->runs[i]), "iterations",
                                              json_iterations(c->runs[i])));
    for (size_t i = 0; i < c->n_notes; i++)
        json_array_append_new(notes, json_text(c->notes[i]));
    return json_write(json_pack("{s:s, s:I, s:o, s:o, s:o, s:o}", "schema", "chokepoint.compare/1",
                                "baseline", (json_int_t)c->baseline, "runs", runs, "summary",
                                rows(c, c->summary, c->n_summary), "resources",
                                rows(c, c->resources, c->n_resources), "notes", notes),
                      out);
}
