/* SPDX-License-Identifier: MIT */
/* Statistics without assumptions about distributions: order statistics, bootstrap, permutation. */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_SERIES_STATS_H
#define CHOKEPOINT_ANALYSIS_FACTS_SERIES_STATS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

struct weighted {
    double value, weight;
};

/* 0 for a value that is not known. */
static inline double stats_or_zero(double value) {
    return isnan(value) ? 0 : value;
}

/* For qsort() of known doubles. */
int stats_compare(const void *a, const void *b);

/* The following functions return NAN for n == 0 and without memory. Values must not be NAN. */
double stats_mean(const double *values, size_t n);
double stats_median(const double *values, size_t n);

/* Linear interpolation between order statistics (Hyndman and Fan, type 7, as R and numpy). */
double stats_quantile(const double *values, size_t n, double q);

/* The smallest value at which the weights up to it reach q of their sum. Sorts items. */
double stats_weighted_quantile(struct weighted *items, size_t n, double q);

/* P(X >= k) of a binomial distribution of n trials of probability p. */
double stats_binomial_tail(size_t k, size_t n, double p);

/* splitmix64: small, seeded and the same everywhere, so that a run's report never changes. */
uint64_t stats_random(uint64_t *state);
size_t stats_random_below(uint64_t *state, size_t n);

#endif
