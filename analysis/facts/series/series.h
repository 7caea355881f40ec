/* SPDX-License-Identifier: MIT */
/*
 * Samples as analysis sees them: arrays, no database. A series is one instance of one table on one
 * host; a counter's value is its growth over the row's interval (resets are handled where rows are
 * stored), a level's is its state at the row's time.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_SERIES_SERIES_H
#define CHOKEPOINT_ANALYSIS_FACTS_SERIES_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/table.h" /* VALUE_ABSENT */

/* Half-open stretches of time, in order and disjoint; ns since the run's command started. */
struct window {
    int64_t begin_ns, end_ns;
};
struct windows {
    const struct window *items;
    size_t n;
};

int64_t windows_length(struct windows windows);
/* The instant lies in one of them; their ends do not belong to them. */
bool windows_hold(struct windows windows, int64_t t_ns);

struct series {
    int host; /* index of the recording's hosts */
    int64_t instance;
    char *name;           /* owned */
    size_t n, capacity;   /* rows */
    int64_t *t_ns;        /* end of each row's interval, increasing */
    int64_t *interval_ns; /* VALUE_ABSENT: how the counters grew is not known */
    int64_t *values;      /* row-major: n x n_columns of the set; VALUE_ABSENT where unknown */
};

struct series_set {
    size_t n_columns, n, capacity;
    struct series *items;
    uint64_t levels; /* columns that are */
    int64_t step_ns; /* rows of an instance that follow each other within such a step are joined to
                        one, with all that grew and the last levels; 0: none are */
};

/* No time of a recording is further away than this (31 years): sums of a few cannot overflow. */
#define TIME_SANE_NS INT64_C(1000000000000000000)

static inline bool time_is_sane(int64_t t_ns) {
    return t_ns >= -TIME_SANE_NS && t_ns <= TIME_SANE_NS;
}

/* Appends a row; rows of one instance come together, in time order. A row not later than the one
 * before it, or at an impossible time, is dropped. -ENOMEM. */
int series_set_append(struct series_set *set, int host, int64_t instance, const char *name,
                      int64_t t_ns, int64_t interval_ns, const int64_t *values);

/* The same where rows of several instances come in turn: those of each go to the series of its own
 * number. After the last of them the set is to be squeezed: numbers without rows go. */
int series_set_append_at(struct series_set *set, size_t at, int host, int64_t instance,
                         const char *name, int64_t t_ns, int64_t interval_ns,
                         const int64_t *values);
void series_set_squeeze(struct series_set *set);
void series_set_release(struct series_set *set);

/* The stretch of the set that has all series of a host: a frequent caller need not scan those of
 * all hosts. Others may lie in it, too. */
struct series_range {
    size_t begin, end;
};
struct series_range series_set_of_host(const struct series_set *set, int host);

static inline int64_t series_value(const struct series_set *set, const struct series *series,
                                   size_t row, size_t column) {
    return series->values[row * set->n_columns + column];
}

/* A row tells what was until its instant: that one lies in one of the windows, their ends included
 * and their beginnings not. */
bool series_row_ends_in(const struct series *series, size_t row, struct windows windows);

/* Growth of a counter over the windows, the part of an interval that a window's end cuts in
 * proportion to time. *ret_covered_ns (may be NULL): the part of the windows that rows cover. */
double series_growth(const struct series_set *set, const struct series *series, size_t column,
                     struct windows windows, int64_t *ret_covered_ns);

/* The last known value of a level, or VALUE_ABSENT. */
int64_t series_last(const struct series_set *set, const struct series *series, size_t column);

/* Whether a level was ever that. */
bool series_ever(const struct series_set *set, const struct series *series, size_t column,
                 int64_t value);

#endif
