/* SPDX-License-Identifier: MIT */
/*
 * Comparing two groups of runs by one quantity. The unit is the run: a difference between two
 * single runs is shown, never called established. With five or more runs in each group there is a
 * permutation test of the difference of means (over all divisions of the runs if there are at most
 * COMPARE_EXACT_MAX of them, else over that many drawn with a seed), and a percentile bootstrap
 * interval of the ratio of medians (Efron, Tibshirani: An Introduction to the Bootstrap, 1993,
 * chapters 13 and 15). A difference is established if it is significant and outside the band of +-2
 * %.
 */
#ifndef CHOKEPOINT_ANALYSIS_VERDICT_COMPARE_H
#define CHOKEPOINT_ANALYSIS_VERDICT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#define COMPARE_RUNS_MIN 5
#define COMPARE_RUNS_MAX 63 /* of both groups together */
#define COMPARE_P 0.05
#define COMPARE_BAND 0.02
#define COMPARE_EXACT_MAX 184756 /* divisions: 10 runs against 10 */

struct compared {
    double median_a, median_b;
    double ratio, ratio_low, ratio_high; /* of b to a; interval of 95 %. NAN with too few runs, or
                                            if a value is not above zero */
    double difference_low, difference_high; /* of medians, b - a; NAN with too few runs */
    double p;                               /* two-sided; NAN with too few runs */
    double p_least; /* the smallest p possible with this number of runs; NAN with too few */
    bool exact;     /* p is over all divisions, not over some that were drawn */
};

enum compare_finding {
    COMPARE_TOO_FEW, /* too few runs */
    COMPARE_SAME,    /* the interval lies within the band */
    COMPARE_UNCLEAR, /* neither a difference nor its absence is established */
    COMPARE_LOWER,   /* b is lower, established */
    COMPARE_HIGHER,
};

/* Compares a[na] with b[nb]; neither may contain NAN. */
struct compared compare_groups(const double *a, size_t na, const double *b, size_t nb);

/* Holm's step-down over n tests: adjusted[i] of p[i]; NAN stays NAN. -ENOMEM. (S. Holm,
 * Scandinavian Journal of Statistics 6, 1979) */
int compare_holm(const double *p, size_t n, double *adjusted);

/* The finding at that adjusted p. */
enum compare_finding compare_find(const struct compared *compared, double adjusted_p);

/* The smallest number of runs per group with which any of n tests can pass Holm. */
size_t compare_runs_needed(size_t n_tests);

#endif
