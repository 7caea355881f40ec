/* SPDX-License-Identifier: MIT */
/* The contract chokepoint.compare/1 (docs/report-json.md). */
#include "reports/json/json.h"

#include <math.h>

#include "reports/model/layout.h"

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

static json_t *interval(double low, double high) {
    return json_pack("{s:o, s:o}", "low", json_number_or_null(low), "high",
                     json_number_or_null(high));
}

/* What the words begin with, as one word. */
static const char *finding(const struct comparison_row *row, const struct comparison_cell *cell) {
    switch (cell->finding) {
    case COMPARE_LOWER:
        return row->section == COMPARISON_TIME ? "faster" : "lower";
    case COMPARE_HIGHER:
        return row->section == COMPARISON_TIME ? "slower" : "higher";
    case COMPARE_SAME:
        return "no difference";
    default:
        return row->not_alike ? "not compared" : "not established";
    }
}

static json_t *cell(const struct comparison_row *row, const struct comparison_cell *x) {
    const struct compared *t = &x->test;
    json_t *object = json_pack(
        "{s:I, s:o, s:o, s:o, s:o}", "runs", (json_int_t)x->n, "mean", json_number_or_null(x->mean),
        "median", json_number_or_null(x->median), "difference", json_number_or_null(x->difference),
        "finding", x->words ? json_text(finding(row, x)) : json_null());
    if (!x->words)
        return object;
    json_object_set_new(object, "ratio", json_number_or_null(t->ratio));
    json_object_set_new(object, "ratio_95", interval(t->ratio_low, t->ratio_high));
    json_object_set_new(object, "difference_95", interval(t->difference_low, t->difference_high));
    json_object_set_new(object, "p", json_number_or_null(t->p));
    json_object_set_new(object, "p_holm", json_number_or_null(x->p_holm));
    json_object_set_new(object, "p_exact", isnan(t->p) ? json_null() : json_boolean(t->exact));
    return object;
}

static json_t *cells(const struct comparison *c, const struct comparison_row *row) {
    json_t *array = json_array();
    for (size_t g = 0; g < c->n_groups; g++)
        json_array_append_new(array, cell(row, &row->groups[g]));
    return array;
}

static json_t *rows(const struct comparison *c, const struct comparison_row *items, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct comparison_row *row = &items[i];
        json_t *host =
            row->host < 0 ? json_null() : json_text(layout_host(c->runs[c->baseline], row->host));
        json_array_append_new(array,
                              json_pack("{s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "label",
                                        json_text(row->label), "host", host, "unit", row->unit,
                                        "section", comparison_section_title(row->section), "values",
                                        numbers(row->value, c->n), "differences",
                                        numbers(row->difference, c->n), "judgements",
                                        judgements(row->judgement, c->n), "groups", cells(c, row),
                                        "not_compared", json_text(row->not_alike)));
    }
    return array;
}

static json_t *groups(const struct comparison *c) {
    json_t *array = json_array();
    for (size_t g = 0; g < c->n_groups; g++) {
        const struct comparison_group *group = &c->groups[g];
        json_t *runs = json_array();
        for (size_t i = 0; i < group->n; i++)
            json_array_append_new(runs, json_integer((json_int_t)group->runs[i]));
        json_array_append_new(
            array, json_pack("{s:o, s:o, s:o, s:I, s:I}", "label", json_text(group->label),
                             "command", json_text(c->runs[group->runs[0]]->command), "runs", runs,
                             "counted", (json_int_t)(group->counted ? group->counted : group->n),
                             "typical", (json_int_t)group->typical));
    }
    return array;
}

static json_t *explanation(const struct comparison *c) {
    json_t *array = json_array();
    if (!c->parts_source) {
        json_decref(array);
        return json_null();
    }
    for (size_t i = 0; i < c->n_parts; i++)
        json_array_append_new(array,
                              json_pack("{s:o, s:o}", "part", json_text(c->parts[i].label),
                                        "seconds", numbers(c->parts[i].seconds, c->n_groups)));
    return json_pack("{s:s, s:o}", "source", c->parts_source, "parts", array);
}

static json_t *run(const struct report *report) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "run", json_run(report), "verdict",
                     json_verdict(report), "iterations", json_iterations(report), "ceilings",
                     json_ceilings(report->ceilings, report->n_ceilings), "efficiency",
                     json_efficiency(report));
}

int json_write_comparison(const struct comparison *c, FILE *out) {
    json_t *runs = json_array(), *notes = json_array();
    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(runs, run(c->runs[i]));
    for (size_t i = 0; i < c->n_notes; i++)
        json_array_append_new(notes, json_text(c->notes[i]));
    json_t *document = json_pack(
        "{s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "chokepoint.compare/1",
        "baseline", (json_int_t)c->baseline, "baseline_group", (json_int_t)c->baseline_group,
        "headline", json_text(c->headline), "groups", groups(c), "explanation", explanation(c),
        "runs", runs, "summary", rows(c, c->summary, c->n_summary), "resources",
        rows(c, c->resources, c->n_resources), "notes", notes);
    return json_write(document, out);
}
