/* SPDX-License-Identifier: MIT */
/* Cells, their runs, and the run that stands for each. */
#include "reports/sweep/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/stats.h"
#include "reports/model/reported.h"
#include "reports/sweep/sweep_private.h"

/* ---- figures ---- */

/* How many of n ordered values lie outside the 95 % interval of their median on each side: the most
 * for which at most 2.5 % of sequences of n coin tosses give no more heads. 0 also if no interval
 * is that certain.
 */
static size_t outside(size_t n) {
    size_t k = 0;
    while (2 * (k + 1) < n && stats_binomial_tail(n - (k + 1), n, 0.5) <= 0.025)
        k++;
    return k;
}

struct sweep_figure sweep_figure(double *values, size_t n) {
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            values[known++] = values[i];
    if (!known)
        return (struct sweep_figure){0, NAN, NAN, NAN, NAN};
    qsort(values, known, sizeof *values, stats_compare);
    size_t from = outside(known);
    return (struct sweep_figure){.n = known,
                                 .median = stats_median(values, known),
                                 .mean = stats_mean(values, known),
                                 .low = values[from],
                                 .high = values[known - 1 - from]};
}

static int fill_figures(const struct sweep *sweep, struct sweep_cell *cell) {
    double *values = calloc(cell->n_runs + 1, sizeof *values);
    if (!values)
        return -ENOMEM;
    for (size_t m = 0; m < sweep->n_measures; m++) {
        size_t n = 0;
        for (size_t i = 0; i < cell->n_runs; i++)
            if (cell->runs[i].state == RUN_DONE)
                values[n++] = cell->runs[i].measures[m];
        cell->figures[m] = sweep_figure(values, n);
    }
    free(values);
    return 0;
}

/* ---- cells ---- */

static size_t cell_index(const struct sweep *sweep, const size_t *value) {
    size_t cell = 0;
    for (size_t p = 0; p < sweep->of.n_parameters; p++)
        cell = cell * sweep->of.parameters[p].n_values + value[p];
    return cell;
}

static int make_cells(struct sweep *sweep) {
    size_t n = sweep->of.n_parameters ? 1 : 0;
    for (size_t p = 0; p < sweep->of.n_parameters && n <= SWEEP_CELLS_SHOWN_MAX; p++)
        n *= sweep->of.parameters[p].n_values;
    if (n > SWEEP_CELLS_SHOWN_MAX)
        return -EOVERFLOW;
    sweep->cells = calloc(n + 1, sizeof *sweep->cells);
    if (!sweep->cells)
        return -ENOMEM;
    sweep->n_cells = n;
    for (size_t i = 0; i < n; i++)
        for (size_t p = sweep->of.n_parameters, rest = i; p-- > 0;) {
            sweep->cells[i].value[p] = rest % sweep->of.parameters[p].n_values;
            rest /= sweep->of.parameters[p].n_values;
        }
    return 0;
}

static int add_run(struct sweep_cell *cell, const struct store_run *run) {
    struct sweep_run *grown = realloc(cell->runs, (cell->n_runs + 1) * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    cell->runs = grown;
    struct sweep_run *added = &grown[cell->n_runs++];
    *added = (struct sweep_run){run->id, run->state, run->exit_status, {0}, NULL};
    for (size_t m = 0; m < SWEEP_MEASURES_MAX; m++)
        added->measures[m] = NAN;
    cell->n_done += run->state == RUN_DONE;
    cell->n_failed += run_state_is_failure(run->state);
    return 0;
}

/* ---- the run that stands for a cell ---- */

static int compare_durations(const void *a, const void *b) {
    const struct store_run *x = *(const struct store_run *const *)a,
                           *y = *(const struct store_run *const *)b;
    return x->duration_ns != y->duration_ns ? (x->duration_ns > y->duration_ns) * 2 - 1
                                            : (x->id > y->id) - (x->id < y->id);
}

/* The id of the run with the median duration among those of the cell that ended well; 0 if none
 * did.
 */
static int64_t typical_run(const struct sweep *sweep, size_t cell,
                           const struct store_sweep_run *runs, size_t n,
                           const struct store_run **of_cell) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (runs[i].run.state == RUN_DONE && cell_index(sweep, runs[i].value) == cell)
            of_cell[found++] = &runs[i].run;
    if (!found)
        return 0;
    qsort(of_cell, found, sizeof *of_cell, compare_durations);
    return of_cell[(found - 1) / 2]->id;
}

/* The argument by arithmetic, which its report does not keep. */
static int keep_arithmetic(struct sweep_cell *cell, const struct candidates *candidates) {
    size_t size = candidates->n_arithmetic * sizeof *cell->arithmetic;
    cell->arithmetic = malloc(size + 1);
    if (!cell->arithmetic)
        return -ENOMEM;
    if (size)
        memcpy(cell->arithmetic, candidates->arithmetic, size);
    cell->n_arithmetic = candidates->n_arithmetic;
    return 0;
}

/* Only the run that stands for its cell is judged: the others are read for their figures. */
static int measure_run(struct store *store, const struct sweep *sweep, struct sweep_cell *cell,
                       struct sweep_run *run, int64_t typical, bool keep) {
    static const struct caller nobody; /* a sweep tells no command */
    struct report *report;
    char which[32];
    snprintf(which, sizeof which, "%lld", (long long)run->id);
    int result = run->id == typical ? report_build(store, which, &nobody, &report)
                                    : report_build_measured(store, which, &report);
    if (result < 0)
        return result;
    for (size_t m = 0; m < sweep->n_measures; m++)
        run->measures[m] = sweep_measure_run(report, &sweep->measures[m]);
    if (run->id == typical) {
        cell->typical = report;
        result = keep_arithmetic(cell, &report->run->judgement.candidates);
    } else if (keep) {
        run->measured = report;
    } else {
        report_free(report);
        return 0;
    }
    report_let_go(report);
    return result;
}

static int measure_cells(struct store *store, struct sweep *sweep,
                         const struct store_sweep_run *runs, size_t n, bool keep) {
    const struct store_run **of_cell = calloc(n + 1, sizeof *of_cell);
    int result = of_cell ? 0 : -ENOMEM;
    for (size_t c = 0; result == 0 && c < sweep->n_cells; c++) {
        struct sweep_cell *cell = &sweep->cells[c];
        int64_t typical = typical_run(sweep, c, runs, n, of_cell);
        for (size_t i = 0; result == 0 && i < cell->n_runs; i++)
            if (cell->runs[i].state == RUN_DONE)
                result = measure_run(store, sweep, cell, &cell->runs[i], typical, keep);
        if (result == 0)
            result = fill_figures(sweep, cell);
    }
    free(of_cell);
    return result;
}

static int fill_sweep(struct store *store, struct sweep *sweep, bool keep) {
    struct store_sweep_run *runs;
    size_t n;
    int result = make_cells(sweep);
    if (result == 0)
        result = store_list_sweep_runs(store, &sweep->of, &runs, &n);
    if (result < 0)
        return result;
    for (size_t i = 0; result == 0 && i < n; i++)
        result = add_run(&sweep->cells[cell_index(sweep, runs[i].value)], &runs[i].run);
    if (result == 0)
        result = measure_cells(store, sweep, runs, n, keep);
    store_sweep_runs_free(runs, n);
    return result;
}

int sweep_build(struct store *store, const char *name, const char *const *measures,
                size_t n_measures, bool keep, struct sweep **ret_sweep) {
    struct sweep *sweep = calloc(1, sizeof *sweep);
    if (!sweep)
        return -ENOMEM;
    int result = store_find_sweep(store, name, &sweep->of);
    for (size_t i = 0; result == 0 && i < n_measures; i++)
        result = sweep_add_measure(sweep, measures[i]);
    if (result == 0)
        result = fill_sweep(store, sweep, keep);
    if (result == 0)
        sweep_drop_gpus(sweep);
    if (result < 0)
        sweep_free(sweep);
    else
        *ret_sweep = sweep;
    return result;
}

void sweep_free(struct sweep *sweep) {
    for (size_t i = 0; sweep && i < sweep->n_cells; i++) {
        for (size_t k = 0; k < sweep->cells[i].n_runs; k++)
            report_free(sweep->cells[i].runs[k].measured);
        free(sweep->cells[i].runs);
        report_free(sweep->cells[i].typical);
        free(sweep->cells[i].arithmetic);
    }
    for (size_t i = 0; sweep && i < sweep->n_measures; i++) {
        free(sweep->measures[i].name);
        free(sweep->measures[i].title);
        free(sweep->measures[i].of);
    }
    if (sweep) {
        free(sweep->cells);
        store_sweep_release(&sweep->of);
    }
    free(sweep);
}

size_t sweep_n_typical(const struct sweep *sweep) {
    size_t n = 0;
    for (size_t i = 0; i < sweep->n_cells; i++)
        n += sweep->cells[i].typical != NULL;
    return n;
}

/* ---- words ---- */

static void describe_failure(const struct sweep_cell *cell, char *text, size_t size) {
    const struct sweep_run *last = cell->n_runs ? &cell->runs[cell->n_runs - 1] : NULL;
    for (size_t i = 0; i < cell->n_runs; i++)
        if (run_state_is_failure(cell->runs[i].state))
            last = &cell->runs[i];
    const char *signal =
        last && last->exit_status > 128 ? sigabbrev_np(last->exit_status - 128) : NULL;
    if (!last)
        snprintf(text, size, "-");
    else if (last->state == RUN_KILLED && signal)
        snprintf(text, size, "failed: SIG%s", signal);
    else if (last->state == RUN_NOT_STARTED)
        snprintf(text, size, "not started");
    else if (last->state == RUN_FAILED || last->state == RUN_KILLED)
        snprintf(text, size, "failed: exit status %d", last->exit_status);
    else
        snprintf(text, size, last->state == RUN_RUNNING ? "unfinished" : "interrupted");
}

void sweep_verdict(const struct sweep_cell *cell, char *text, size_t size) {
    const struct report *report = cell->typical;
    if (!report) {
        describe_failure(cell, text, size);
        return;
    }
    const struct report_verdict *v = &report->verdict;
    bool blames = v->host >= 0 && (size_t)v->host < report->n_hosts && verdict_blames(v->state);
    int n = blames ? snprintf(text, size, "%s %s", report->hosts[v->host].name, v->resource)
            : v->resource && *v->resource && strcmp(v->resource, "none") != 0 &&
                    verdict_blames(v->state)
                ? snprintf(text, size, "%s", v->resource)
                : snprintf(text, size, "%s", verdict_state_name(v->state));
    if (v->state == VERDICT_SUSPECTED && n > 0 && (size_t)n < size)
        n += snprintf(text + n, size - (size_t)n, "?");
    if (blames && !isnan(v->gain_pct) && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, ", gain %.0f %%", v->gain_pct);
}

void sweep_values(const struct sweep *sweep, const struct sweep_cell *cell, char *text,
                  size_t size) {
    size_t at = 0;
    *text = '\0';
    for (size_t p = 0; p < sweep->of.n_parameters && at < size; p++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", p ? ", " : "",
                               sweep->of.parameters[p].values[cell->value[p]]);
}

void sweep_describe_runs(const struct sweep *sweep, char *text, size_t size) {
    size_t planned = sweep->n_cells * (size_t)sweep->of.repeats, done = 0, failed = 0, most = 0;
    for (size_t i = 0; i < sweep->n_cells; i++) {
        done += sweep->cells[i].n_done;
        failed += sweep->cells[i].n_failed;
        most = sweep->cells[i].n_done > most ? sweep->cells[i].n_done : most;
    }
    int n = snprintf(text, size, "%zu of %zu runs ended well", done, planned);
    if (failed && n > 0 && (size_t)n < size)
        n += snprintf(text + n, size - (size_t)n, ", %zu failed", failed);
    if (most > 1 && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n,
                 "; figures are medians, in brackets %s; tables of one run are of each cell's run "
                 "of median length",
                 most >= SWEEP_ENOUGH ? "their intervals of 95 %" : "the lowest and the highest");
}
