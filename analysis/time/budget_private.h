/* SPDX-License-Identifier: MIT */
/*
 * Shared by the two halves of a budget. Time is cut into cells at the ends of all windows and
 * intervals of counters. Events fill the cells with raw amounts (ns), then counters divide those.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_BUDGET_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_TIME_BUDGET_PRIVATE_H

#include "analysis/time/budget.h"

enum raw {
    /* wall time: each moment is in exactly one of these */
    RAW_WAIT,
    RAW_TRANSFER,
    RAW_OVERHEAD,
    RAW_UNSPLIT,
    RAW_IO,        /* in file calls, and in waits for them */
    RAW_GAP_CPU,   /* outside MPI, running */
    RAW_GAP_OFF,   /* outside MPI, not running */
    RAW_GAP_DARK,  /* outside MPI, CPU use not known */
    RAW_FOLD_WAIT, /* between folded tests: waiting or computing, by the counters */
    RAW_FOLD_TRANSFER,
    RAW_FOLD_UNSPLIT,
    RAW_WALL_, /* number of wall-time amounts */
    /* other amounts, of the same time */
    RAW_INSIDE_CPU = RAW_WALL_,
    RAW_INSIDE_OFF,    /* inside MPI, not running */
    RAW_FOLD_INSIDE,   /* inside folded tests, CPU use not known */
    RAW_LATE_TRANSFER, /* the part that no wait for a peer covers */
    RAW_LATE_OVERHEAD,
    RAW_LATE_UNSPLIT,
    RAW_FOLDED_TRANSFER, /* of RAW_FOLD_INSIDE: the part that no wait for a peer covers */
    RAW_FOLDED_OVERHEAD,
    RAW_BACKOFF,          /* back-offs between tests, without their excess */
    RAW_BACKOFF_TRANSFER, /* the part that no wait for a peer covers */
    RAW_BACKOFF_OVERHEAD,
    RAW_IO_OFF,
    RAW_OF_GPU, /* inside calls that begin work on a GPU: waits for it are in there */
    /* of RAW_GAP_OFF and RAW_GAP_DARK: while another thread was inside MPI */
    RAW_OTHER_WAIT,
    RAW_OTHER_TRANSFER,
    RAW_OTHER_FILE,
    RAW_OTHER_OVERHEAD,
    RAW_OTHER_UNSPLIT,
    RAW_COUNT_
};

struct cell {
    double raw[RAW_COUNT_];
    double term[BUDGET_TERMS], unknown, extra_cpu; /* filled from the counters */
    unsigned dark;                                 /* terms that are not observable here: a mask */
    enum budget_source source;
};

/* The cells of a rank, in order and touching. A program that goes round in microseconds has
 * hundreds of thousands of them, so only those are kept that were touched and not settled yet:
 * events come in order, and once they are past an interval of counters, its cells are divided,
 * added to their windows and forgotten.
 */
struct cells {
    const struct budget_subject *subject;
    int64_t *times; /* cell i: [times[i], times[i + 1]) */
    size_t n;
    size_t cursor;      /* cursor of the events, which come in order */
    struct window lost; /* the raw amounts are not known in it */
    struct cell *items; /* cells [settled, made), from items[start] on */
    /* The parts of the same cells within parts->only. Only with parts */
    struct cell *within;
    size_t settled, made, start, room;
    int error; /* -ENOMEM */
    const struct budget_parts *parts;
    const struct windows *windows; /* with parts: the windows of moved_s */
    size_t n_windows;
    struct budget_shares *shares; /* by interval; NULL: not wanted */
    struct window_sums *sums;     /* what settled cells are added to */
    /* The cells that are settled next, together: up to next_end, within that interval */
    size_t next_end, interval;
    double lag_ns; /* of the interval before */
};

/* The cell, or its part within parts->only; NULL with cells->error set, or if it is settled. */
struct cell *cells_at(struct cells *cells, size_t cell);
struct cell *cells_within(struct cells *cells, size_t cell);
void cells_release(struct cells *cells);

static inline double cells_length(const struct cells *cells, size_t cell) {
    return (double)(cells->times[cell + 1] - cells->times[cell]);
}

/* Whether its raw amounts are known. */
static inline bool cells_has_events(const struct cells *cells, size_t cell) {
    return cells->times[cell + 1] <= cells->lost.begin_ns ||
           cells->times[cell] >= cells->lost.end_ns;
}

/* A piece of a window, to which cells are added. */
struct window_span {
    int64_t begin_ns, end_ns;
    uint32_t window, item;
};

/* Other sums of a window: its budget has the rest. */
struct window_more {
    double extra, clocked_s;
    unsigned dark;
};

struct window_sums {
    struct budget *budgets; /* by window; borrowed */
    struct window_more *more;
    size_t n;
    struct window_span *spans; /* by begin; those before `next` were begun */
    size_t n_spans, next;
    uint32_t *active; /* begun, and not ended: their numbers, by begin */
    size_t n_active;
};

/* Release it in any case. -ENOMEM. */
int window_sums_init(const struct windows *windows, size_t n, struct budget *budgets,
                     struct window_sums *ret_sums);
void window_sums_release(struct window_sums *sums);
/* Completes the budgets once all cells are added. */
void window_sums_finish(struct window_sums *sums);

/* Adds cells [first, end), which are divided, to the windows that they lie in. */
void budget_add_cells(struct cells *cells, size_t first, size_t end);

/* 0 for an amount that is not known or impossible. */
static inline double budget_amount(double ns) {
    return isnan(ns) || ns < 0 ? 0 : ns;
}

/* How much of a cell lies within parts->only. */
double budget_covered_ns(const struct cells *cells, size_t cell);

/* Fills in raw amounts from the events of the subject's main thread up to until_ns. -ENOMEM. */
int budget_fill_events(const struct budget_subject *subject, int64_t until_ns, struct cells *cells,
                       struct windows awaited_in, double *awaited);

/* Adds an interval's share in a cell by the process's wait clocks. False if they do not cover the
 * interval; then nothing is added.
 */
bool budget_divide_clocks(const struct budget_interval *interval, double share, struct cell *cell);

/* Moves time outside MPI in which the process waited for a GPU, by its wait clocks, into terms of
 * the cells [first, end), all of one interval. False: the clocks do not cover it, or tell of no
 * GPU. part: of the interval, in cells with events; raw: their sum; cpu_ns: CPU time of the
 * interval, less what was polled. *ret_kept: the part of the time outside MPI that was no such
 * wait.
 */
bool budget_take_gpu(const struct budget_interval *interval, double part, double *raw,
                     double *cpu_ns, struct cells *cells, size_t first, size_t end,
                     double *ret_kept);

/* Divides cells by the intervals of counters, adds them to their windows and forgets them, as far
 * as all cells of an interval lie before cell `known`, where nothing more will be put.
 */
void budget_settle(struct cells *cells, size_t known);

#endif
