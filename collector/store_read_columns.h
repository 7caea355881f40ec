/* SPDX-License-Identifier: MIT */
/* Reads tables of events as columns, for tables of millions of rows. */
#ifndef CHOKEPOINT_COLLECTOR_STORE_READ_COLUMNS_H
#define CHOKEPOINT_COLLECTOR_STORE_READ_COLUMNS_H

#include "collector/store_read.h"

/* Some thousand rows of one host, in the order in which its events came; valid during the call. */
struct store_columns_read {
    int64_t host;
    size_t n;
    const int64_t *const *values; /* n of each requested column, VALUE_ABSENT where unknown */
    const uint32_t *instances;    /* n places in names */
    const char *const *names;     /* of the host's instances; NULL: of an unknown one, ignore its
                                     rows */
    size_t n_names;
    const struct store_clock_map *clock;
};

/* Times of the host's clock, as store_row_time. */
void store_columns_times(const struct store_columns_read *rows, const int64_t *mono_ns,
                         int64_t *ret_times);

/* Calls each() for all rows of a table of events of a run, by host, without keeping them. Columns
 * of blocks that are not requested are not unpacked. Results as store_each_row. */
int store_each_columns(struct store *store, int64_t run, const char *table,
                       const char *const *columns, size_t n_columns,
                       int (*each)(void *ctx, const struct store_columns_read *rows), void *ctx);

#endif
