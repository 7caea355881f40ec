/* SPDX-License-Identifier: MIT */
/*
 * T2 of a sweep: each cell compared with the first, row by row, and whether a difference is more
 * than chance. The comparison is that of `chokepoint compare`, over all runs of both cells, so that
 * both agree; efficiency is left out, for which all runs would have to be judged.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/comparison/comparison.h"
#include "reports/model/layout.h"
#include "reports/sweep/sweep_private.h"

#define LABEL_SIZE 600

/* If a terminal is too narrow for all of them, the interval goes below. */
enum place { COLUMN_ROW, COLUMN_BASE, COLUMN_CELL, COLUMN_REAL, COLUMN_DIFFERENCE, COLUMNS };

/* ---- the runs of both ---- */

static size_t gather(const struct sweep_cell *cell, size_t group, struct report **runs,
                     size_t *group_of) {
    size_t n = 0;
    for (size_t i = 0; i < cell->n_runs; i++) {
        struct report *report = cell->typical && cell->runs[i].id == cell->typical->run_id
                                    ? cell->typical
                                    : cell->runs[i].measured;
        if (!report)
            continue;
        group_of[n] = group;
        runs[n++] = report;
    }
    return n;
}

static int compare(const struct sweep_cell *base, const struct sweep_cell *cell,
                   struct comparison **ret_comparison) {
    size_t most = base->n_runs + cell->n_runs + 1;
    struct report **runs = calloc(most, sizeof *runs);
    size_t *group_of = calloc(most, sizeof *group_of);
    int result = runs && group_of ? 0 : -ENOMEM;
    if (result == 0) {
        size_t n = gather(base, 0, runs, group_of);
        n += gather(cell, 1, runs + n, group_of + n);
        result = comparison_build(runs, group_of, n, 0, ret_comparison);
    }
    free(runs);
    free(group_of);
    return result;
}

/* ---- rows ---- */

static bool is_shown(const struct comparison_row *row) {
    return row->section != COMPARISON_EFFICIENCY && !row->of_ceiling && row->groups[0].n &&
           row->groups[1].n;
}

/* The number of tests that share Holm's correction with the row. */
static size_t count_tests(const struct comparison_row *rows, size_t n,
                          const struct comparison_row *row) {
    size_t tests = 0;
    for (size_t i = 0; i < n; i++)
        tests += rows[i].section == row->section && !isnan(rows[i].groups[1].test.p);
    return tests;
}

static const char *real_words(const struct comparison_row *row, size_t tests) {
    const struct comparison_cell *cell = &row->groups[1];
    if (row->not_alike)
        return "not compared";
    switch (cell->finding) {
    case COMPARE_LOWER:
        return "yes, lower";
    case COMPARE_HIGHER:
        return "yes, higher";
    case COMPARE_SAME:
        return "no, within 2 %";
    default:
        return isnan(cell->test.p) || cell->test.p_least * (double)tests >= COMPARE_P
                   ? "too few runs"
                   : "not established";
    }
}

/* A number with its sign: "+0.50". */
static const char *with_sign(char text[LAYOUT_NUMBER_SIZE + 1], double value) {
    *text = value < 0 ? '-' : '+';
    layout_number(text + 1, fabs(value));
    return text;
}

static int put_difference(struct sweep_table *table, size_t at, const struct comparison_row *row) {
    const struct compared *x = &row->groups[1].test;
    char is[LAYOUT_NUMBER_SIZE + 1], low[LAYOUT_NUMBER_SIZE + 1], high[LAYOUT_NUMBER_SIZE + 1];
    double difference = row->groups[1].median - row->groups[0].median;
    if (isnan(difference) || row->not_alike)
        return sweep_table_set(table, at, COLUMN_DIFFERENCE, "-");
    return isnan(x->difference_low)
               ? sweep_table_set(table, at, COLUMN_DIFFERENCE, "%s", with_sign(is, difference))
               : sweep_table_set(table, at, COLUMN_DIFFERENCE, "%s (%s to %s)",
                                 with_sign(is, difference), with_sign(low, x->difference_low),
                                 with_sign(high, x->difference_high));
}

static int put_row(struct sweep_table *table, size_t at, const struct comparison_row *row,
                   size_t tests) {
    const struct comparison_cell *cell = &row->groups[1];
    int result = sweep_table_number(table, at, COLUMN_BASE, row->groups[0].median);
    if (result == 0)
        result = sweep_table_number(table, at, COLUMN_CELL, cell->median);
    if (result == 0)
        result = put_difference(table, at, row);
    if (result)
        return result;
    return isnan(cell->p_holm)
               ? sweep_table_set(table, at, COLUMN_REAL, "%s", real_words(row, tests))
               : sweep_table_set(table, at, COLUMN_REAL, "%s (%.3f)", real_words(row, tests),
                                 cell->p_holm);
}

static int fill_summary(struct sweep_table *table, const struct comparison *c, size_t *at) {
    int result = 0;
    for (size_t i = 0; i < c->n_summary && result == 0; i++) {
        const struct comparison_row *row = &c->summary[i];
        if (!is_shown(row))
            continue;
        result = *row->unit
                     ? sweep_table_set(table, *at, COLUMN_ROW, "%s (%s)", row->label, row->unit)
                     : sweep_table_set(table, *at, COLUMN_ROW, "%s", row->label);
        if (result == 0)
            result = put_row(table, (*at)++, row, count_tests(c->summary, c->n_summary, row));
    }
    return result;
}

/* Host by host, in the order of the tables of hosts. */
static int fill_host_differences(struct sweep_table *table, const struct comparison *c,
                                 size_t hosts, size_t *at) {
    int result = 0;
    for (size_t h = 0; h < hosts; h++)
        for (size_t m = 0; m < c->n_metrics && result == 0; m++) {
            const struct comparison_row *row = &c->resources[m * c->n_hosts + h];
            if (!is_shown(row))
                continue;
            result =
                sweep_table_set(table, *at, COLUMN_ROW, "%s %s",
                                c->runs[c->baseline]->hosts[c->hosts[h]].name, c->metrics[m].label);
            if (result == 0)
                result =
                    put_row(table, (*at)++, row, count_tests(c->resources, c->n_resources, row));
        }
    return result;
}

/* ---- a table a cell but the first ---- */

static int put_titles(struct sweep_table *table, const char *base, const char *cell) {
    int result = sweep_table_set(table, 0, COLUMN_ROW, " ");
    if (result == 0)
        result = sweep_table_set(table, 0, COLUMN_BASE, "%s", base);
    if (result == 0)
        result = sweep_table_set(table, 0, COLUMN_CELL, "%s", cell);
    if (result == 0)
        result = sweep_table_set(table, 0, COLUMN_DIFFERENCE, "difference (95 %%)");
    return result ? result : sweep_table_set(table, 0, COLUMN_REAL, "is it real");
}

static int fill_differences(struct sweep_tables *tables, const struct sweep *sweep,
                            const struct sweep_cell *base, const struct sweep_cell *cell,
                            const struct comparison *c, size_t hosts_max) {
    size_t hosts = hosts_max && c->n_hosts > hosts_max ? hosts_max : c->n_hosts, at = 1;
    char from[LABEL_SIZE], to[LABEL_SIZE];
    sweep_values(sweep, base, from, sizeof from);
    sweep_values(sweep, cell, to, sizeof to);
    struct sweep_table *table =
        sweep_table_new(tables, "differences", to, 1 + c->n_summary + hosts * c->n_metrics, COLUMNS,
                        "%s against %s, %zu and %zu runs: medians; in brackets p after Holm", to,
                        from, c->groups[1].n, c->groups[0].n);
    int result = table ? put_titles(table, from, to) : -ENOMEM;
    if (result == 0)
        result = fill_summary(table, c, &at);
    if (result == 0)
        result = fill_host_differences(table, c, hosts, &at);
    if (table)
        table->rows = at; /* those not shown were never filled */
    return result;
}

int sweep_tables_add_differences(struct sweep_tables *tables, const struct sweep *sweep,
                                 size_t hosts_max) {
    const struct sweep_cell *base = NULL;
    int result = 0;
    for (size_t i = 0; i < sweep->n_cells && result == 0; i++) {
        const struct sweep_cell *cell = &sweep->cells[i];
        struct comparison *comparison;
        if (!cell->typical)
            continue;
        if (!base) {
            base = cell;
            continue;
        }
        result = compare(base, cell, &comparison);
        if (result < 0)
            break;
        result = fill_differences(tables, sweep, base, cell, comparison, hosts_max);
        comparison_give_back(comparison);
    }
    return result;
}
