/* SPDX-License-Identifier: MIT */
/*
 * Reading whole tables of samples in the order in which the file has them, all hosts at once: what
 * hosts recorded together lies in the same pages, and each is read once.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_SCAN_H
#define CHOKEPOINT_COLLECTOR_STORE_SCAN_H

#include "collector/store_read.h"

struct store_scan;

/* Opens a run: reads the time of each of its frames, once for all tables. */
int store_scan_open(struct store *store, int64_t run, struct store_scan **ret_scan);
void store_scan_close(struct store_scan *scan);

/* Calls each() for all rows of a table, the same as of store_each_row: those of one instance in the
 * order of time, but of many instances in turn. `slot` counts instances from 0, by host and
 * instance: in the order of slots, rows are as store_each_row has them. -ENOENT as there.
 * STORE_SCAN_MIXED: the file has them in another order, for which store_each_row is there; what was
 * given until then is to be forgotten. */
#define STORE_SCAN_MIXED 1
int store_scan_table(struct store_scan *scan, const char *table, const char *const *columns,
                     size_t n_columns,
                     int (*each)(void *ctx, size_t slot, const struct store_row_read *row),
                     void *ctx);

#endif
