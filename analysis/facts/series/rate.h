/* SPDX-License-Identifier: MIT */
/*
 * A rate over time: one value for each interval between two samples, kept as amount and base, so
 * that the mean over any window is exact: the amounts of the window divided by its bases, not a
 * mean of samples. A level is held as level x time over time.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_SERIES_RATE_H
#define CHOKEPOINT_ANALYSIS_FACTS_SERIES_RATE_H

#include "analysis/facts/series/series.h"

struct rate {
    size_t n;
    int64_t *t_ns, *dt_ns; /* cell i covers (t - dt, t]; cells touch or leave gaps, in order */
    double *amount, *base; /* base 0: a gap */
    double scale;          /* value = scale x amount / base */
};

/* n cells of zero amounts; -ENOMEM. rate_release takes an empty rate, too. */
int rate_init(struct rate *rate, size_t n, double scale);
void rate_release(struct rate *rate);

/* Makes two of the cell in which t lies, of a rate whose amounts are still zero. -ENOMEM. */
int rate_cut(struct rate *rate, int64_t t_ns);

/* The value of cell i, NAN in a gap. */
double rate_value(const struct rate *rate, size_t i);

/* The first cell that ends after t. */
size_t rate_find(const struct rate *rate, int64_t t_ns);

/* Exact mean over the windows; NAN where they meet no data. A cell that a window's end cuts counts
 * in proportion to time. */
double rate_mean(const struct rate *rate, struct windows windows);
double rate_mean_between(const struct rate *rate, int64_t begin_ns, int64_t end_ns);

/* The amount within the windows: bytes, ns. */
double rate_amount(const struct rate *rate, struct windows windows);

/* Time of the windows that has data. */
int64_t rate_covered(const struct rate *rate, struct windows windows);

/* The value below which the cells stay for the share q of the windows' time; cells weighted by the
 * part of them inside. NAN without data, also when memory is short. */
double rate_quantile(const struct rate *rate, struct windows windows, double q);

/* The highest value of a cell that lies in the windows by at least half; the mean where there is
 * none. */
double rate_peak(const struct rate *rate, struct windows windows);

/* The ceiling as far as it was seen: the highest value that was reached or exceeded for held_ns in
 * all (or for 2 % of the time above half of the peak, if that is longer), so that one burst out of
 * a buffer is none, but many short stretches at one rate are. NAN if there is not so much data. */
double rate_ceiling(const struct rate *rate, struct windows windows, int64_t held_ns);

/* Share of the windows' amount that moved in cells of at least `low`; NAN if nothing did. */
double rate_amount_share_above(const struct rate *rate, struct windows windows, double low);

#endif
