/* SPDX-License-Identifier: MIT */
/*
 * Several instances of a host (cores, interfaces, processes) on one grid of time: what one of them
 * grew over a longer interval is spread over the cells it spans, so that sums stay exact.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_SERIES_ALIGN_H
#define CHOKEPOINT_ANALYSIS_FACTS_SERIES_ALIGN_H

#include <stdbool.h>

#include "analysis/facts/series/rate.h"

/* Which instances are meant. */
typedef bool series_filter(const void *ctx, const struct series_set *set,
                           const struct series *series);

/* A rate with the cells of all rows of the host's matching instances, amounts zero. -ENOMEM. */
int align_grid(const struct series_set *set, int host, series_filter *filter, const void *ctx,
               double scale, struct rate *ret_grid);

/* Adds to amount[cell] and covered[cell] (ns) what the columns of `plus` (bit mask) grew. A row
 * counts if at least one of the columns is known. Levels: value x time, minus those of `minus`,
 * between two rows on a straight line; all columns must be known. */
void align_growth(const struct series_set *set, const struct series *series, uint64_t plus,
                  const struct rate *grid, double *amount, double *covered_ns);
void align_level(const struct series_set *set, const struct series *series, uint64_t plus,
                 uint64_t minus, const struct rate *grid, double *amount, double *covered_ns);

#endif
