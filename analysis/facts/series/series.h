/* SPDX-License-Identifier: MIT */
/*
 * Samples for the analysis: arrays, no database. A series is one instance of one table on one host.
 * A counter's value is its growth over the row's interval (resets are handled where rows are
 * stored); a level's is its state at the row's time.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_SERIES_SERIES_H
#define CHOKEPOINT_ANALYSIS_FACTS_SERIES_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/table.h" /* VALUE_ABSENT */
#include "tables/keys.h"

/* Half-open stretches of time, in order and disjoint, in ns since the command started. */
struct window {
    int64_t begin_ns, end_ns;
};
struct windows {
    const struct window *items;
    size_t n;
};

int64_t windows_length(struct windows windows);
/* Whether an instant lies in one of them; ends are excluded. */
bool windows_hold(struct windows windows, int64_t t_ns);

/* The index of the first window that ends after t. */
size_t windows_first(struct windows windows, int64_t t_ns);

/* The time of [begin_ns, end_ns) that lies in the windows. */
double windows_common_ns(struct windows windows, int64_t begin_ns, int64_t end_ns);

/* A column of packed values: code 0 is absent, else the value is base + code - 1. Width 0: all are
 * `base`; 8: the values themselves.
 */
struct series_column {
    int64_t base;
    size_t at; /* of its codes, from the begin of the columns on */
    uint8_t width;
};

struct series {
    int host; /* index of the recording's hosts */
    int64_t instance;
    char *name;           /* owned */
    struct table_key key; /* of its name, in the form of the set */
    size_t n, capacity;   /* numbers of rows */
    int64_t *t_ns;        /* end of each row's interval, increasing */
    int64_t *interval_ns; /* VALUE_ABSENT: the growth of counters is not known */
    int64_t *values;      /* [row * n_columns + column]; VALUE_ABSENT if unknown; NULL: packed */
    struct series_column *columns; /* packed: of all columns, and behind them their codes */
};

struct series_set {
    size_t n_columns, n, capacity;
    struct series *items;
    uint64_t levels;    /* mask of the columns that are levels */
    enum key_form keys; /* the form of the names of its series */
    int64_t step_ns;    /* an instance's consecutive rows within this step are joined, with summed
                           growth and the last levels; 0: none are */
};

/* No time of a recording is further away (31 years), so sums of a few times cannot overflow. */
#define TIME_SANE_NS INT64_C(1000000000000000000)

static inline bool time_is_sane(int64_t t_ns) {
    return t_ns >= -TIME_SANE_NS && t_ns <= TIME_SANE_NS;
}

/* A counted value; 0 if it is absent or impossible. */
static inline double series_amount(int64_t value) {
    return value > 0 && time_is_sane(value) ? (double)value : 0;
}

/* Appends a row; an instance's rows come one after the other, in time order. A row that is not
 * later than the one before, or has an impossible time, is dropped. -ENOMEM.
 */
int series_set_append(struct series_set *set, int host, int64_t instance, const char *name,
                      int64_t t_ns, int64_t interval_ns, const int64_t *values);

/* Appends interleaved rows of several instances, each with its own number `at`. After the last row
 * the set must be squeezed, which removes numbers without rows.
 */
int series_set_append_at(struct series_set *set, size_t at, int host, int64_t instance,
                         const char *name, int64_t t_ns, int64_t interval_ns,
                         const int64_t *values);
void series_set_squeeze(struct series_set *set);

/* Packs all series, which then cannot be changed or grow, only read. -ENOMEM: some are packed. */
int series_set_pack(struct series_set *set);

/* An empty set with the same columns and keys. */
struct series_set series_set_like(const struct series_set *set);
void series_set_release(struct series_set *set);

/* A stretch of the set that contains all series of a host, and perhaps others, so that frequent
 * callers need not scan those of all hosts.
 */
struct series_range {
    size_t begin, end;
};
struct series_range series_set_of_host(const struct series_set *set, int host);

/* The first series of a host (-1: of any) with that name; NULL if there is none. */
const struct series *series_named(const struct series_set *set, int host, const char *name);
/* The first series of a host with that process id, which the column holds; NULL if there is none.
 */
const struct series *series_of_pid(const struct series_set *set, int host, size_t column,
                                   int64_t pid);

static inline int64_t series_unpacked(const struct series *series, size_t row, size_t column) {
    const struct series_column *c = &series->columns[column];
    const void *codes = (const char *)series->columns + c->at;
    uint64_t code;
    switch (c->width) {
    case 0:
        return c->base;
    case 1:
        code = ((const uint8_t *)codes)[row];
        break;
    case 2:
        code = ((const uint16_t *)codes)[row];
        break;
    case 4:
        code = ((const uint32_t *)codes)[row];
        break;
    default:
        return ((const int64_t *)codes)[row];
    }
    return code ? (int64_t)((uint64_t)c->base + code - 1) : VALUE_ABSENT;
}

static inline int64_t series_value(const struct series_set *set, const struct series *series,
                                   size_t row, size_t column) {
    return series->values ? series->values[row * set->n_columns + column]
                          : series_unpacked(series, row, column);
}

/* Whether the instant of a row lies in one of the windows. As a row tells about the time before it,
 * ends of windows are included and begins are not.
 */
bool series_row_ends_in(const struct series *series, size_t row, struct windows windows);

/* The growth of a counter over the windows; an interval cut by a window's end counts in proportion
 * to time. *ret_covered_ns (may be NULL): the time of the windows that rows cover.
 */
double series_growth(const struct series_set *set, const struct series *series, size_t column,
                     struct windows windows, int64_t *ret_covered_ns);

/* The last known value of a level, or VALUE_ABSENT. */
int64_t series_last(const struct series_set *set, const struct series *series, size_t column);

/* Whether a level ever had that value. */
bool series_ever(const struct series_set *set, const struct series *series, size_t column,
                 int64_t value);

#endif
