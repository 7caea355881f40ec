/* SPDX-License-Identifier: MIT */
/*
 * Tables of the runs that stand for the cells, by host: averages of whole runs and of phases (T1),
 * peaks (T4), the argument by arithmetic (P1); and which function adds which kind.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/model/layout.h"
#include "reports/sweep/sweep_private.h"

#define LABEL_SIZE 600
#define PHASES_MAX 8 /* each is a table */

static size_t hosts_of(const struct report *report, size_t hosts_max) {
    return hosts_max && report->n_hosts > hosts_max ? hosts_max : report->n_hosts;
}

/* ---- T1, T4: a column a host of each cell ---- */

/* The part of a run that a table shows: the phase with that name (NULL: the whole). */
struct hosts_table {
    const char *id, *phase;
    size_t n_left_out; /* further phases without a table */
    const struct layout_row *rows;
    size_t n;
    bool peaks;
};

/* A phase whose stretches are shorter than two samples would show its neighbours' averages. */
static bool lasts_for_samples(const struct report *report,
                              const struct report_resources *resources) {
    size_t stretches = 0;
    for (size_t i = 0; i < report->n_phases; i++)
        stretches += strcmp(report->phases[i].name, resources->phase) == 0;
    return resources->duration_s >= 2 * report->period_s * (double)stretches;
}

/* NULL if the run has no such phase, or one too short for its means to say anything. */
static const struct report_resources *resources_of(const struct report *report, const char *phase) {
    for (size_t i = phase ? 1 : 0; i < report->n_resources; i++)
        if (!phase || (strcmp(report->resources[i].phase, phase) == 0 &&
                       layout_worth_a_table(report, &report->resources[i]) &&
                       lasts_for_samples(report, &report->resources[i])))
            return &report->resources[i];
    return NULL;
}

static int fill_host(struct sweep_table *table, size_t column, const char *label,
                     const struct report *report, size_t host, const struct hosts_table *of) {
    const struct report_resources *resources = resources_of(report, of->phase);
    int result = sweep_table_set(table, 0, column, "%s %s", label, report->hosts[host].name);
    for (size_t r = 0; r < of->n && result == 0; r++)
        result = sweep_table_number(
            table, r + 1, column,
            resources ? layout_value(report, resources, host, &of->rows[r], of->peaks) : NAN);
    return result;
}

static int fill_host_means(struct sweep_table *table, const struct sweep *sweep,
                           const struct hosts_table *of, size_t hosts_max) {
    size_t column = 1;
    int result = sweep_table_set(table, 0, 0, " ");
    for (size_t r = 0; r < of->n && result == 0; r++)
        result = sweep_table_set(table, r + 1, 0, "%s", of->rows[r].label);
    for (size_t i = 0; i < sweep->n_cells; i++) {
        const struct report *report = sweep->cells[i].typical;
        char label[LABEL_SIZE];
        sweep_values(sweep, &sweep->cells[i], label, sizeof label);
        for (size_t h = 0; report && result == 0 && h < hosts_of(report, hosts_max); h++)
            result = fill_host(table, column++, label, report, h, of);
    }
    return result;
}

/* Whether any cell's run has the metric. */
static bool any_cell_has(const struct sweep *sweep, enum metric metric) {
    for (size_t i = 0; i < sweep->n_cells; i++)
        if (sweep->cells[i].typical && layout_has(sweep->cells[i].typical, metric))
            return true;
    return false;
}

static int add_hosts(struct sweep_tables *tables, const struct sweep *sweep,
                     const struct hosts_table *all, const char *title, size_t hosts_max) {
    size_t columns = 1;
    char more[64] = "";
    struct layout_row rows[LAYOUT_ROWS_MAX];
    struct hosts_table shown = *all, *of = &shown;
    shown.rows = rows;
    shown.n = 0;
    for (size_t r = 0; r < all->n && shown.n < LAYOUT_ROWS_MAX; r++)
        if (any_cell_has(sweep, all->rows[r].metric))
            rows[shown.n++] = all->rows[r];
    if (of->n_left_out)
        snprintf(more, sizeof more, " (%zu more phase%s not shown)", of->n_left_out,
                 of->n_left_out == 1 ? " is" : "s are");
    for (size_t i = 0; i < sweep->n_cells; i++)
        columns += sweep->cells[i].typical ? hosts_of(sweep->cells[i].typical, hosts_max) : 0;
    struct sweep_table *table =
        sweep_table_new(tables, of->id, of->phase ? of->phase : "", of->n + 1, columns, "%s%s%s%s",
                        title, of->phase ? " in phase " : "", of->phase ? of->phase : "", more);
    return table ? fill_host_means(table, sweep, of, hosts_max) : -ENOMEM;
}

/* The names of phases for which any cell has a table, in order of appearance; free() them. */
static const char **collect_phases(const struct sweep *sweep, size_t *ret_n) {
    size_t n = 0, most = 1;
    for (size_t i = 0; i < sweep->n_cells; i++)
        most += sweep->cells[i].typical ? sweep->cells[i].typical->n_resources : 0;
    const char **names = calloc(most, sizeof *names);
    for (size_t i = 0; names && i < sweep->n_cells; i++) {
        const struct report *report = sweep->cells[i].typical;
        for (size_t p = 1; report && p < report->n_resources; p++) {
            const char *name = report->resources[p].phase;
            size_t k = 0;
            while (k < n && strcmp(names[k], name) != 0)
                k++;
            if (k == n && resources_of(report, name))
                names[n++] = name;
        }
    }
    *ret_n = n;
    return names;
}

static int add_phases(struct sweep_tables *tables, const struct sweep *sweep, size_t hosts_max) {
    size_t n;
    const char **names = collect_phases(sweep, &n);
    int result = names ? 0 : -ENOMEM;
    for (size_t i = 0; i < n && i < PHASES_MAX && result == 0; i++) {
        const struct hosts_table of = {.id = "phases",
                                       .phase = names[i],
                                       .n_left_out = i + 1 == PHASES_MAX ? n - PHASES_MAX : 0,
                                       .rows = layout_averages,
                                       .n = layout_averages_size};
        result = add_hosts(tables, sweep, &of, "Averages of each host", hosts_max);
    }
    free(names);
    return result;
}

/* ---- P1 ---- */

/* The time that the same link needs for the bytes of the other direction; NAN. */
static double way_back_s(const struct sweep_cell *cell) {
    const struct arithmetic *way = &cell->arithmetic[0];
    for (size_t i = 0; i < cell->n_arithmetic; i++) {
        const struct arithmetic *a = &cell->arithmetic[i];
        if (a->host == way->host && a->group == way->group && a->direction != way->direction)
            return a->bound_s;
    }
    return NAN;
}

/* A link carries both directions at once, but a program that waits for all gradients before it
 * sends the weights needs it twice.
 */
static int fill_arithmetic(struct sweep_table *table, size_t row, const char *label,
                           const struct sweep_cell *cell) {
    const struct arithmetic *a = &cell->arithmetic[0];
    double both_s = a->bound_s + way_back_s(cell);
    const double values[] = {a->bytes_per_iteration / 1e6,
                             a->bandwidth_mb_s,
                             a->bound_s,
                             both_s,
                             a->iteration_s,
                             100 * a->share,
                             100 * both_s / a->iteration_s};
    int result = sweep_table_set(table, row, 0, "%s", label);
    if (result == 0)
        result = sweep_table_set(table, row, 1, "%s %ss", layout_host(cell->typical, a->host),
                                 a->direction == METRIC_NET_SEND ? "send" : "receive");
    for (size_t c = 0; c < ARRAY_SIZE(values) && result == 0; c++)
        result = sweep_table_number(table, row, c + 2, values[c]);
    return result;
}

/* For each cell the link that limits an iteration most. If ranks run freely, iterations of all
 * ranks are counted: their spacing is shorter than the length of one.
 */
static int add_arithmetic(struct sweep_tables *tables, const struct sweep *sweep) {
    static const char *const titles[] = {" ",
                                         "link",
                                         "MB an iteration",
                                         "MB/s",
                                         "so it takes (s)",
                                         "with the way back (s)",
                                         "an iteration comes every (s)",
                                         "share (%)",
                                         "with the way back (%)"};
    size_t rows = 1, row = 1;
    for (size_t i = 0; i < sweep->n_cells; i++)
        rows += sweep->cells[i].n_arithmetic > 0;
    if (rows == 1)
        return 0;
    struct sweep_table *table = sweep_table_new(tables, "arithmetic", "", rows, ARRAY_SIZE(titles),
                                                "By arithmetic: what the bytes of an iteration "
                                                "need");
    int result = table ? 0 : -ENOMEM;
    for (size_t c = 0; c < ARRAY_SIZE(titles) && result == 0; c++)
        result = sweep_table_set(table, 0, c, "%s", titles[c]);
    for (size_t i = 0; i < sweep->n_cells && result == 0; i++) {
        const struct sweep_cell *cell = &sweep->cells[i];
        char label[LABEL_SIZE];
        sweep_values(sweep, cell, label, sizeof label);
        if (cell->n_arithmetic)
            result = fill_arithmetic(table, row++, label, cell);
    }
    return result;
}

/* ---- kinds ---- */

int sweep_tables_add_runs(struct sweep_tables *tables, const struct sweep *sweep, const char *kind,
                          size_t hosts_max) {
    if (!sweep_n_typical(sweep))
        return 0;
    if (strcmp(kind, "means") == 0)
        return sweep_tables_add_means(tables, sweep);
    if (strcmp(kind, "hosts") == 0)
        return add_hosts(tables, sweep,
                         &(struct hosts_table){
                             .id = "hosts", .rows = layout_averages, .n = layout_averages_size},
                         "Averages of each host", hosts_max);
    if (strcmp(kind, "phases") == 0)
        return add_phases(tables, sweep, hosts_max);
    if (strcmp(kind, "peaks") == 0)
        return add_hosts(
            tables, sweep,
            &(struct hosts_table){
                .id = "peaks", .rows = layout_peaks, .n = layout_peaks_size, .peaks = true},
            "Peaks of each host", hosts_max);
    if (strcmp(kind, "differences") == 0)
        return sweep_tables_add_differences(tables, sweep, hosts_max);
    if (strcmp(kind, "job") == 0)
        return sweep_tables_add_job(tables, sweep);
    if (strcmp(kind, "roles") == 0)
        return sweep_tables_add_roles(tables, sweep);
    if (strcmp(kind, "operators") == 0)
        return sweep_tables_add_operators(tables, sweep);
    if (strcmp(kind, "timeline") == 0)
        return sweep_tables_add_timelines(tables, sweep);
    if (strcmp(kind, "arithmetic") == 0)
        return add_arithmetic(tables, sweep);
    return strcmp(kind, "pace") == 0 ? sweep_tables_add_pace(tables, sweep)
                                     : sweep_tables_add_curves(tables, sweep);
}
