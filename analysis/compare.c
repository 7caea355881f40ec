/* SPDX-License-Identifier: MIT */
#include "analysis/compare.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"

#define RUNS_MAX 64
#define EXACT_MAX 20 /* runs of both groups: 184,756 divisions at most */
#define DRAWINGS 2000

/* Of means: medians of two small groups have so many ties that nothing could be significant. */
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

static double exact_p(const double *all, size_t na, size_t n) {
    uint64_t bits = (UINT64_C(1) << na) - 1, end = UINT64_C(1) << n;
    double seen = difference(all, n, bits) * (1 - 1e-9);
    size_t divisions = 0, extreme = 0;
    for (; bits < end; bits = next_division(bits), divisions++)
        extreme += difference(all, n, bits) >= seen;
    return (double)extreme / (double)divisions;
}

static double sampled_p(const double *all, size_t na, size_t n) {
    uint64_t random = 1;
    double seen = difference(all, n, (UINT64_C(1) << na) - 1) * (1 - 1e-9);
    size_t extreme = 1;
    for (int d = 0; d < DRAWINGS; d++) {
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
    return (double)extreme / (DRAWINGS + 1);
}

static double resampled_median(const double *values, size_t n, uint64_t *random) {
    double drawn[RUNS_MAX];
    for (size_t i = 0; i < n; i++)
        drawn[i] = values[stats_random_below(random, n)];
    return stats_median(drawn, n);
}

static void bootstrap_ratio(const double *a, size_t na, const double *b, size_t nb,
                            struct compared *c) {
    double ratios[DRAWINGS];
    uint64_t random = 1;
    for (int d = 0; d < DRAWINGS; d++) {
        double below = resampled_median(a, na, &random);
        double ratio = resampled_median(b, nb, &random) / below;
        ratios[d] = isfinite(ratio) ? ratio : 1;
    }
    c->ratio_low = stats_quantile(ratios, DRAWINGS, 0.025);
    c->ratio_high = stats_quantile(ratios, DRAWINGS, 0.975);
}

struct compared compare_groups(const double *a, size_t na, const double *b, size_t nb) {
    struct compared c = {.median_a = stats_median(a, na),
                         .median_b = stats_median(b, nb),
                         .ratio_low = NAN,
                         .ratio_high = NAN,
                         .p = NAN};
    c.ratio = c.median_b / c.median_a;
    if (na < COMPARE_RUNS_MIN || nb < COMPARE_RUNS_MIN || na + nb > RUNS_MAX - 1)
        return c;
    double all[RUNS_MAX];
    memcpy(all, a, na * sizeof *all);
    memcpy(all + na, b, nb * sizeof *all);
    c.p = na + nb <= EXACT_MAX ? exact_p(all, na, na + nb) : sampled_p(all, na, na + nb);
    bootstrap_ratio(a, na, b, nb, &c);
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

bool compare_established(const struct compared *compared, double adjusted_p) {
    return adjusted_p < COMPARE_P &&
           (compared->ratio_low > 1 + COMPARE_BAND || compared->ratio_high < 1 - COMPARE_BAND);
}
