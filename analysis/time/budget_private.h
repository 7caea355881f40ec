/* SPDX-License-Identifier: MIT */
/*
 * Between the two halves of a budget: time is cut into cells at every end of a window and of an
 * interval of counters. Events fill the cells with raw amounts (ns), counters then divide those.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_BUDGET_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_TIME_BUDGET_PRIVATE_H

#include "analysis/time/budget.h"

enum raw {
    /* wall time: each moment is in exactly one */
    RAW_WAIT,
    RAW_TRANSFER,
    RAW_OVERHEAD,
    RAW_UNSPLIT,
    RAW_IO,        /* in calls to files, and waits for such */
    RAW_GAP_CPU,   /* outside, running */
    RAW_GAP_OFF,   /* outside, not running */
    RAW_GAP_DARK,  /* outside, not known whether running */
    RAW_FOLD_WAIT, /* between folded tests: waiting or computing, as counters say */
    RAW_FOLD_TRANSFER,
    RAW_FOLD_UNSPLIT,
    RAW_WALL_, /* so many */
    /* more of the same time */
    RAW_INSIDE_CPU = RAW_WALL_,
    RAW_INSIDE_OFF,    /* inside MPI, not running */
    RAW_FOLD_INSIDE,   /* inside folded tests, not known whether running */
    RAW_LATE_TRANSFER, /* the part of it that the wait for a peer does not cover */
    RAW_LATE_OVERHEAD,
    RAW_LATE_UNSPLIT,
    RAW_FOLDED_TRANSFER, /* of RAW_FOLD_INSIDE, what the wait for a peer does not cover */
    RAW_FOLDED_OVERHEAD,
    RAW_BACKOFF,          /* back-offs between tests, but for what is late of them */
    RAW_BACKOFF_TRANSFER, /* the part of it that the wait for a peer does not cover */
    RAW_BACKOFF_OVERHEAD,
    RAW_IO_OFF,
    /* of RAW_GAP_OFF and RAW_GAP_DARK: another thread was inside MPI meanwhile */
    RAW_OTHER_WAIT,
    RAW_OTHER_TRANSFER,
    RAW_OTHER_FILE,
    RAW_OTHER_OVERHEAD,
    RAW_OTHER_UNSPLIT,
    RAW_COUNT_
};

struct cell {
    int64_t begin_ns, end_ns;
    double raw[RAW_COUNT_];
    double term[BUDGET_TERMS], unknown, extra_cpu; /* filled from the counters */
    bool events;                                   /* the raw amounts are known */
    unsigned dark;                                 /* terms that cannot be seen here: bits */
    enum budget_source source;
};

struct cells {
    struct cell *items; /* in order, touching */
    size_t n;
    size_t cursor; /* of the events, which come in order */
    /* The same cells, but only the parts of them in which parts->only holds. NULL: not wanted */
    struct cell *within;
    const struct budget_parts *parts;
    const struct windows *windows; /* with parts: whose moved_s these are */
    size_t n_windows;
    struct budget_shares *shares; /* by interval; NULL: not wanted */
};

/* The first window that ends after t. */
size_t budget_first_window(struct windows windows, int64_t t_ns);

/* How much of a cell lies within parts->only. */
double budget_covered_ns(const struct cells *cells, size_t cell);

/* Fills raw amounts from the events of the subject's main thread up to until_ns. -ENOMEM. */
int budget_fill_events(const struct budget_subject *subject, int64_t until_ns, struct cells *cells,
                       struct windows awaited_in, double *awaited);

/* Adds to a cell the share of an interval that lies in it, by the process's wait clocks. False:
 * they do not reach over the interval, and nothing was added. */
bool budget_divide_clocks(const struct budget_interval *interval, double share, struct cell *cell);

/* Divides all cells by what the intervals of counters say. */
void budget_divide(const struct budget_subject *subject, struct cells *cells);

#endif
