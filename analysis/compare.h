/* SPDX-License-Identifier: MIT */
/*
 * Comparing two groups of runs by one quantity. The unit is the run: a difference between two
 * single runs is shown, never called established. With five or more of each: an exact permutation
 * test of the difference of means (sampled where there are too many permutations), and a
 * bootstrap interval of the ratio of medians; established is what is significant and leaves the
 * band of
 * +-2 %.
 */
#ifndef CHOKEPOINT_ANALYSIS_COMPARE_H
#define CHOKEPOINT_ANALYSIS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#define COMPARE_RUNS_MIN 5
#define COMPARE_P 0.05
#define COMPARE_BAND 0.02

struct compared {
    double median_a, median_b;
    double ratio, ratio_low, ratio_high; /* of b to a; interval of 95 %; NAN with too few runs */
    double p;                            /* two-sided; NAN with too few runs */
};

/* a[na] against b[nb], no NAN among them. */
struct compared compare_groups(const double *a, size_t na, const double *b, size_t nb);

/* Holm's step-down over n tests: adjusted[i] of p[i]; NAN stays NAN. -ENOMEM. */
int compare_holm(const double *p, size_t n, double *adjusted);

/* Whether the difference is established at that adjusted p. */
bool compare_established(const struct compared *compared, double adjusted_p);

#endif
