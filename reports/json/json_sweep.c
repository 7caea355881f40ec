/* SPDX-License-Identifier: MIT */
/* The contract chokepoint.sweep/1 (docs/report-json.md). */
#include "reports/json/json.h"
#include "reports/sweep/sweep_write.h"

static json_t *texts(char *const *items, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_text(items[i]));
    return array;
}

static json_t *parameters(const struct sweep *sweep) {
    json_t *array = json_array();
    for (size_t p = 0; p < sweep->of.n_parameters; p++) {
        const struct store_sweep_parameter *parameter = &sweep->of.parameters[p];
        json_array_append_new(array,
                              json_pack("{s:o, s:o}", "name", json_text(parameter->name), "values",
                                        texts(parameter->values, parameter->n_values)));
    }
    return array;
}

static json_t *values(const struct sweep *sweep, const struct sweep_cell *cell) {
    json_t *object = json_object();
    for (size_t p = 0; p < sweep->of.n_parameters; p++) {
        const struct store_sweep_parameter *parameter = &sweep->of.parameters[p];
        json_object_set_new(object, parameter->name, json_text(parameter->values[cell->value[p]]));
    }
    return object;
}

static json_t *runs(const struct sweep *sweep, const struct sweep_cell *cell) {
    static const char *const states[] = {"unfinished", "done",        "failed",
                                         "killed",     "interrupted", "not-started"};
    json_t *array = json_array();
    for (size_t i = 0; i < cell->n_runs; i++) {
        const struct sweep_run *run = &cell->runs[i];
        json_t *measures = json_object();
        for (size_t m = 0; m < sweep->n_measures; m++)
            json_object_set_new(measures, sweep->measures[m].name,
                                json_number_or_null(run->measures[m]));
        json_array_append_new(
            array, json_pack("{s:I, s:s, s:o, s:o}", "run", (json_int_t)run->id, "state",
                             states[run->state], "exit_status",
                             run->exit_status < 0 ? json_null() : json_integer(run->exit_status),
                             "measures", measures));
    }
    return array;
}

static json_t *figures(const struct sweep *sweep, const struct sweep_cell *cell) {
    json_t *object = json_object();
    for (size_t m = 0; m < sweep->n_measures; m++) {
        const struct sweep_figure *f = &cell->figures[m];
        json_object_set_new(
            object, sweep->measures[m].name,
            json_pack("{s:s, s:I, s:o, s:o, s:o, s:o}", "unit", sweep->measures[m].unit, "runs",
                      (json_int_t)f->n, "median", json_number_or_null(f->median), "mean",
                      json_number_or_null(f->mean), "low", json_number_or_null(f->low), "high",
                      json_number_or_null(f->high)));
    }
    return object;
}

static json_t *cells(const struct sweep *sweep) {
    json_t *array = json_array();
    for (size_t i = 0; i < sweep->n_cells; i++) {
        const struct sweep_cell *cell = &sweep->cells[i];
        char words[300];
        sweep_verdict(cell, words, sizeof words);
        json_array_append_new(
            array,
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "values", values(sweep, cell), "runs",
                      runs(sweep, cell), "figures", figures(sweep, cell), "typical_run",
                      cell->typical ? json_integer(cell->typical->run_id) : json_null(), "in_short",
                      json_text(words), "verdict",
                      cell->typical ? json_verdict(cell->typical) : json_null()));
    }
    return array;
}

static json_t *tables(const struct sweep_tables *items) {
    json_t *array = json_array();
    for (size_t i = 0; i < items->n; i++) {
        const struct sweep_table *table = &items->items[i];
        json_t *rows = json_array();
        for (size_t r = 0; r < table->rows; r++)
            json_array_append_new(
                rows, json_pack("{s:b, s:o}", "reference", table->beside[r], "cells",
                                texts(table->cells + r * table->columns, table->columns)));
        json_array_append_new(array, json_pack("{s:s, s:o, s:o}", "kind", table->id, "title",
                                               json_text(table->title), "rows", rows));
    }
    return array;
}

int sweep_write_json(const struct sweep_section *sections, size_t n, FILE *out) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct sweep *sweep = sections[i].sweep;
        json_array_append_new(
            array, json_pack("{s:o, s:o, s:o, s:I, s:o, s:o, s:o}", "name",
                             json_text(sweep->of.name), "title", json_text(sections[i].title),
                             "command", json_text(sweep->of.command), "repeats",
                             (json_int_t)sweep->of.repeats, "parameters", parameters(sweep),
                             "cells", cells(sweep), "tables", tables(sections[i].tables)));
    }
    return json_write(json_pack("{s:s, s:o}", "schema", "chokepoint.sweep/1", "sweeps", array),
                      out);
}
