/* SPDX-License-Identifier: MIT */
/*
 * Puts several instances of a host (cores, interfaces, processes) on one time grid. Growth over an
 * interval longer than a cell is spread over its cells, so that sums stay exact.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_SERIES_ALIGN_H
#define CHOKEPOINT_ANALYSIS_FACTS_SERIES_ALIGN_H

#include <stdbool.h>

#include "analysis/facts/series/rate.h"

/* Selects instances. */
typedef bool series_filter(const void *ctx, const struct series_set *set,
                           const struct series *series);

/* Makes a rate with a cell for each row of the host's matching instances, and zero amounts.
 * -ENOMEM.
 */
int align_grid(const struct series_set *set, int host, series_filter *filter, const void *ctx,
               double scale, struct rate *ret_grid);

/* Adds to amount[cell] and covered[cell] (ns) the growth of the columns in `plus` (bit mask). A row
 * counts if at least one of them is known. For levels: value x time, minus that of the columns in
 * `minus`, linear between two rows; all columns must be known.
 */
void align_growth(const struct series_set *set, const struct series *series, uint64_t plus,
                  const struct rate *grid, double *amount, double *covered_ns);
void align_level(const struct series_set *set, const struct series *series, uint64_t plus,
                 uint64_t minus, const struct rate *grid, double *amount, double *covered_ns);

#endif
