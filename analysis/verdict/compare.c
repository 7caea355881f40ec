/* SPDX-License-Identifier: MIT */
#include "analysis/verdict/compare.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/stats.h"

#define RUNS_MAX (COMPARE_RUNS_MAX + 1)
#define DRAWINGS 4000
#define SEED 1

/* Difference of means: medians of two small groups have so many ties that no difference could be
 * significant. */
static double difference(const double *all, size_t n, uint64_t in_a) {
    double a[RUNS_MAX], b[RUNS_MAX];
    size_t na = 0, nb = 0;
    for (size_t i = 0; i < n; i++)
        if (in_a >> i & 1)
            a[na++] = all[i];
        else
            b[nb++] = all[i];
    return fabs(stats_mean(a, na) - stats_mean(b, nb));
}

/* The next larger number with as many bits set (Gosper). */
static uint64_t next_division(uint64_t bits) {
    uint64_t low = bits & -bits, ripple = bits + low;
    return (((ripple ^ bits) >> 2) / low) | ripple;
}

/* n choose k, as a double, which can hold 63 choose 31. */
static double divisions_of(size_t n, size_t k) {
    double product = 1;
    for (size_t i = 1; i <= k; i++)
        product = product * (double)(n - k + i) / (double)i;
    return round(product);
}

static double exact_p(const double *all, size_t na, size_t n) {
    uint64_t bits = (UINT64_C(1) << na) - 1, end = UINT64_C(1) << n;
    double seen = difference(all, n, bits) * (1 - 1e-9);
    size_t divisions = 0, extreme = 0;
    for (; bits < end; bits = next_division(bits), divisions++)
        extreme += difference(all, n, bits) >= seen;
    return (double)extreme / (double)divisions;
}

enum { DRAWN = COMPARE_EXACT_MAX / 4 };

/* The observed division counts as one of those drawn: otherwise p could be 0 (Phipson, Smyth
 * 2010). */
static double sampled_p(const double *all, size_t na, size_t n) {
    uint64_t random = SEED;
    double seen = difference(all, n, (UINT64_C(1) << na) - 1) * (1 - 1e-9);
    size_t extreme = 1;
    for (int d = 0; d < DRAWN; d++) {
        uint64_t bits = 0;
        for (size_t left = na; left;) {
            size_t i = stats_random_below(&random, n);
            if (bits >> i & 1)
                continue;
            bits |= UINT64_C(1) << i;
            left--;
        }
        extreme += difference(all, n, bits) >= seen;
    }
    return (double)extreme / (DRAWN + 1);
}

/* The most extreme divisions: the observed one, and with groups of one size its mirror image. */
static double least_p(size_t na, size_t nb, bool exact) {
    return exact ? (na == nb ? 2 : 1) / divisions_of(na + nb, na) : 1.0 / (DRAWN + 1);
}

static void permute(const double *a, size_t na, const double *b, size_t nb, struct compared *c) {
    double all[RUNS_MAX];
    memcpy(all, a, na * sizeof *all);
    memcpy(all + na, b, nb * sizeof *all);
    c->exact = divisions_of(na + nb, na) <= COMPARE_EXACT_MAX;
    c->p = c->exact ? exact_p(all, na, na + nb) : sampled_p(all, na, na + nb);
    c->p_least = least_p(na, nb, c->exact);
}

static int compare_values(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median of a resample of sorted values: the numbers of draws suffice, without sorting again. */
static double resampled_median(const double *sorted, size_t n, uint64_t *random) {
    unsigned drawn[RUNS_MAX] = {0};
    size_t below = 0, at = 0, middle = (n - 1) / 2;
    for (size_t i = 0; i < n; i++)
        drawn[stats_random_below(random, n)]++;
    while (below + drawn[at] <= middle)
        below += drawn[at++];
    if (n % 2 || below + drawn[at] > middle + 1)
        return sorted[at];
    size_t next = at + 1;
    while (!drawn[next])
        next++;
    return (sorted[at] + sorted[next]) / 2;
}

static void bootstrap(const double *a, size_t na, const double *b, size_t nb, struct compared *c) {
    double ratios[DRAWINGS], differences[DRAWINGS], sorted_a[RUNS_MAX], sorted_b[RUNS_MAX];
    uint64_t random = SEED;
    memcpy(sorted_a, a, na * sizeof *a);
    memcpy(sorted_b, b, nb * sizeof *b);
    qsort(sorted_a, na, sizeof *sorted_a, compare_values);
    qsort(sorted_b, nb, sizeof *sorted_b, compare_values);
    for (int d = 0; d < DRAWINGS; d++) {
        double x = resampled_median(sorted_a, na, &random);
        double y = resampled_median(sorted_b, nb, &random);
        differences[d] = y - x;
        ratios[d] = y / x;
    }
    c->difference_low = stats_quantile(differences, DRAWINGS, 0.025);
    c->difference_high = stats_quantile(differences, DRAWINGS, 0.975);
    if (isnan(c->ratio))
        return;
    c->ratio_low = stats_quantile(ratios, DRAWINGS, 0.025);
    c->ratio_high = stats_quantile(ratios, DRAWINGS, 0.975);
}

static bool all_positive(const double *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!(values[i] > 0))
            return false;
    return true;
}

struct compared compare_groups(const double *a, size_t na, const double *b, size_t nb) {
    struct compared c = {.median_a = stats_median(a, na),
                         .median_b = stats_median(b, nb),
                         .ratio = NAN,
                         .ratio_low = NAN,
                         .ratio_high = NAN,
                         .difference_low = NAN,
                         .difference_high = NAN,
                         .p = NAN,
                         .p_least = NAN};
    if (all_positive(a, na) && all_positive(b, nb))
        c.ratio = c.median_b / c.median_a;
    if (na < COMPARE_RUNS_MIN || nb < COMPARE_RUNS_MIN || na + nb > COMPARE_RUNS_MAX)
        return c;
    permute(a, na, b, nb, &c);
    bootstrap(a, na, b, nb, &c);
    return c;
}

struct ranked {
    double p;
    size_t index;
};

static int compare_ranked(const void *a, const void *b) {
    double x = ((const struct ranked *)a)->p, y = ((const struct ranked *)b)->p;
    return (x > y) - (x < y);
}

int compare_holm(const double *p, size_t n, double *adjusted) {
    struct ranked *order = malloc((n + 1) * sizeof *order);
    size_t tests = 0;
    if (!order)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        adjusted[i] = NAN;
        if (!isnan(p[i]))
            order[tests++] = (struct ranked){p[i], i};
    }
    qsort(order, tests, sizeof *order, compare_ranked);
    double highest = 0;
    for (size_t i = 0; i < tests; i++) {
        highest = fmax(highest, fmin(1, order[i].p * (double)(tests - i)));
        adjusted[order[i].index] = highest;
    }
    free(order);
    return 0;
}

/* Without a ratio, the band is that of the larger median. */
static void relative_interval(const struct compared *c, double *ret_low, double *ret_high) {
    double size = fmax(fabs(c->median_a), fabs(c->median_b));
    bool ratio = !isnan(c->ratio);
    *ret_low = ratio ? c->ratio_low - 1 : size > 0 ? c->difference_low / size : 0;
    *ret_high = ratio ? c->ratio_high - 1 : size > 0 ? c->difference_high / size : 0;
}

enum compare_finding compare_find(const struct compared *compared, double adjusted_p) {
    double low, high;
    if (isnan(compared->p))
        return COMPARE_TOO_FEW;
    relative_interval(compared, &low, &high);
    if (adjusted_p < COMPARE_P && low > COMPARE_BAND)
        return COMPARE_HIGHER;
    if (adjusted_p < COMPARE_P && high < -COMPARE_BAND)
        return COMPARE_LOWER;
    return low >= -COMPARE_BAND && high <= COMPARE_BAND ? COMPARE_SAME : COMPARE_UNCLEAR;
}

size_t compare_runs_needed(size_t n_tests) {
    size_t runs = COMPARE_RUNS_MIN;
    while (2 * runs < COMPARE_RUNS_MAX - 1 &&
           (double)n_tests *
                   least_p(runs, runs, divisions_of(2 * runs, runs) <= COMPARE_EXACT_MAX) >=
               COMPARE_P)
        runs++;
    return runs;
}
