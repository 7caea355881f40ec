/* SPDX-License-Identifier: MIT */
/*
 * A sweep as a report sees it: cells (one for each combination of values), the runs of each, the
 * measures of each run, and the run of median length, whose verdict and tables stand for the cell.
 * Reports of the other runs are read and freed one by one, so that a sweep of a hundred runs holds
 * only as many reports as it has cells, unless they are to be kept: differences are tested run by
 * run.
 *
 * Figures are medians over runs that ended well. Their interval is that of 95 % from order
 * statistics if there are enough runs (six), else from the lowest to the highest.
 */
#ifndef CHOKEPOINT_REPORTS_SWEEP_H
#define CHOKEPOINT_REPORTS_SWEEP_H

#include "collector/store_sweep.h"
#include "reports/model/model.h"

#define SWEEP_MEASURES_MAX 16
#define SWEEP_ENOUGH 6 /* runs needed for a 95 % interval of their median */

/* A measure of a run. */
struct sweep_measure {
    char *name;  /* owned, as it was asked for: "time", "to:85", "last:loss" */
    char *title; /* owned: "time to an accuracy of 85 % (s)" */
    const char *unit;
    size_t kind;     /* which of the kinds in sweep_measures.c */
    double argument; /* for "to": the accuracy; NAN */
    char *of;        /* owned; for "last": the name of the value; NULL */
};

struct sweep_figure {
    size_t n; /* runs in which it is known */
    double median, mean, low, high;
};

struct sweep_run {
    int64_t id;
    enum run_state state;
    int exit_status; /* -1: unknown */
    double measures[SWEEP_MEASURES_MAX];
    struct report *measured; /* owned; NULL: not kept, or this run is the cell's typical one */
};

struct sweep_cell {
    size_t value[SWEEP_PARAMETERS_MAX];
    struct sweep_run *runs; /* owned */
    size_t n_runs, n_done, n_failed;
    struct sweep_figure figures[SWEEP_MEASURES_MAX];
    struct report *typical;        /* owned; NULL: no run ended well */
    struct arithmetic *arithmetic; /* owned; of the typical run */
    size_t n_arithmetic;
};

struct sweep {
    struct store_sweep of; /* owned */
    struct sweep_measure measures[SWEEP_MEASURES_MAX];
    size_t n_measures;
    struct sweep_cell *cells; /* owned; the last parameter changes fastest */
    size_t n_cells;
};

/* Summarizes values, NAN for unknown ones; sorts them. */
struct sweep_figure sweep_figure(double *values, size_t n);

/* Whether a word names a measure; the list of measures for a message. */
bool sweep_is_measure(const char *word);
extern const char sweep_measure_words[];

/* Reads a sweep (NULL: the last) and all its runs; keep: also their reports, which the table
 * "differences" needs. -ENOENT; -EINVAL for a word that is no measure; -EOVERFLOW for more cells
 * than can be shown.
 */
#define SWEEP_CELLS_SHOWN_MAX 1000
int sweep_build(struct store *store, const char *name, const char *const *measures,
                size_t n_measures, bool keep, struct sweep **ret_sweep);
void sweep_free(struct sweep *sweep); /* takes NULL */

/* Writes the verdict of a cell in few words into text: "vm1 net-egress, gain 34 %", "balanced",
 * "failed: exit status 3".
 */
void sweep_verdict(const struct sweep_cell *cell, char *text, size_t size);

/* "5 of 6 runs ended well, 1 failed; figures are medians ..." */
void sweep_describe_runs(const struct sweep *sweep, char *text, size_t size);

/* The values of a cell: "sync, 100". */
void sweep_values(const struct sweep *sweep, const struct sweep_cell *cell, char *text,
                  size_t size);

#endif
