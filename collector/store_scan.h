/* SPDX-License-Identifier: MIT */
/*
 * Reads whole tables of samples in the file's order, all hosts at once: hosts that were recorded
 * together share pages, and each page is read once.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_SCAN_H
#define CHOKEPOINT_COLLECTOR_STORE_SCAN_H

#include "collector/store_read.h"

struct store_scan;

/* Opens a run and reads the times of its frames, once for all tables. */
int store_scan_open(struct store *store, int64_t run, struct store_scan **ret_scan);
void store_scan_close(struct store_scan *scan);

/* Calls each() for all rows of a table, as store_each_row, but in turn for many instances; rows of
 * one instance come in the order of time. `slot` numbers instances from 0, by host and instance:
 * sorted by slot, the rows are in the order of store_each_row. -ENOENT as there. STORE_SCAN_MIXED:
 * the file has another order; discard the rows and use store_each_row. */
#define STORE_SCAN_MIXED 1
int store_scan_table(struct store_scan *scan, const char *table, const char *const *columns,
                     size_t n_columns,
                     int (*each)(void *ctx, size_t slot, const struct store_row_read *row),
                     void *ctx);

#endif
