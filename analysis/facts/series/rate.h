/* SPDX-License-Identifier: MIT */
/*
 * A rate over time: one value for each interval between two samples, kept as amount and base. So
 * the mean over any window is exact: the window's amounts over its bases, not a mean of samples. A
 * level is kept as level x time over time.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_SERIES_RATE_H
#define CHOKEPOINT_ANALYSIS_FACTS_SERIES_RATE_H

#include "analysis/facts/series/series.h"

struct rate {
    size_t n;
    int64_t *t_ns, *dt_ns; /* cell i covers (t - dt, t]; cells are in order, with or without gaps */
    double *amount, *base; /* base 0: a gap */
    double scale;          /* value = scale x amount / base */
};

/* Makes n cells with zero amounts; -ENOMEM. rate_release takes an empty rate, too. */
int rate_init(struct rate *rate, size_t n, double scale);
void rate_release(struct rate *rate);

/* Splits the cell that contains t, in a rate whose amounts are still zero. -ENOMEM. */
int rate_cut(struct rate *rate, int64_t t_ns);

/* The value of cell i, NAN in a gap. */
double rate_value(const struct rate *rate, size_t i);

/* The first cell that ends after t. */
size_t rate_find(const struct rate *rate, int64_t t_ns);

/* The exact mean over the windows; NAN if they hold no data. A cell cut by a window's end counts in
 * proportion to time.
 */
double rate_mean(const struct rate *rate, struct windows windows);
double rate_mean_between(const struct rate *rate, int64_t begin_ns, int64_t end_ns);

/* The amount (bytes, ns) within the windows. */
double rate_amount(const struct rate *rate, struct windows windows);

/* The time within the windows that has data. */
int64_t rate_covered(const struct rate *rate, struct windows windows);

/* The quantile q of the value over the windows' time; cells are weighted by their part inside. NAN
 * without data or memory.
 */
double rate_quantile(const struct rate *rate, struct windows windows, double q);

/* The highest value of a cell that lies at least half inside the windows; the mean if there is
 * none.
 */
double rate_peak(const struct rate *rate, struct windows windows);

/* The observed ceiling: the highest value that was reached for held_ns in all (or for 2 % of the
 * time above half of the peak, if that is longer). So one burst out of a buffer does not count, but
 * many short stretches at one rate do. NAN if there is not so much data.
 */
double rate_ceiling(const struct rate *rate, struct windows windows, int64_t held_ns);

/* The share of the windows' amount that moved in cells of at least `low`; NAN if nothing moved. */
double rate_amount_share_above(const struct rate *rate, struct windows windows, double low);

#endif
