/* SPDX-License-Identifier: MIT */
/* Optimal change points of a signal whose mean jumps: exact, in linear time if there are changes.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/facts/iteration/phase_detect.h"
#include "analysis/facts/series/stats.h"

#define NOISE_MIN 0.02 /* of the time: a smaller difference is worth no change */
#define PENALTY                                                                                    \
    3.0 /* factor on features * log n: a little above BIC's 2, since cells are not independent */

struct pelt {
    struct phase_signal signal;
    double noise[PHASE_FEATURES]; /* standard deviation of a feature in a cell */
    double *sums, *squares;       /* cumulative sums, scaled by the noise */
    double *cost;                 /* cost of the best division up to each cell */
    size_t *previous, *pruned;
};

static void pelt_release(struct pelt *p) {
    free(p->sums);
    free(p->squares);
    free(p->cost);
    free(p->previous);
    free(p->pruned);
}

/* Noise from the differences of neighbours, which jumps hardly affect: their median over that of a
 * normal distribution.
 */
static double noise_of(struct phase_signal signal, size_t feature, double *room) {
    for (size_t i = 1; i < signal.n; i++)
        room[i - 1] = fabs(signal.values[i * PHASE_FEATURES + feature] -
                           signal.values[(i - 1) * PHASE_FEATURES + feature]);
    double median = stats_median(room, signal.n - 1);
    return fmax(NOISE_MIN, isnan(median) ? 0 : median / (0.6745 * sqrt(2)));
}

static int pelt_init(struct pelt *p, struct phase_signal signal) {
    size_t n = signal.n;
    *p = (struct pelt){.signal = signal,
                       .sums = calloc((n + 1) * PHASE_FEATURES, sizeof(double)),
                       .squares = calloc(n + 1, sizeof(double)),
                       .cost = malloc((n + 1) * sizeof(double)),
                       .previous = calloc(n + 1, sizeof(size_t)),
                       .pruned = malloc((n + 1) * sizeof(size_t))};
    if (!p->sums || !p->squares || !p->cost || !p->previous || !p->pruned)
        return -ENOMEM;
    for (size_t f = 0; f < PHASE_FEATURES; f++)
        p->noise[f] = noise_of(signal, f, p->cost);
    for (size_t i = 0; i < n; i++) {
        p->squares[i + 1] = p->squares[i];
        for (size_t f = 0; f < PHASE_FEATURES; f++) {
            double value = signal.values[i * PHASE_FEATURES + f] / p->noise[f];
            p->sums[(i + 1) * PHASE_FEATURES + f] = p->sums[i * PHASE_FEATURES + f] + value;
            p->squares[i + 1] += value * value;
        }
    }
    return 0;
}

/* The sum of squares about the means of cells [begin, end). */
static double cost_between(const struct pelt *p, size_t begin, size_t end) {
    double cost = p->squares[end] - p->squares[begin];
    for (size_t f = 0; f < PHASE_FEATURES; f++) {
        double sum = p->sums[end * PHASE_FEATURES + f] - p->sums[begin * PHASE_FEATURES + f];
        cost -= sum * sum / (double)(end - begin);
    }
    return fmax(cost, 0);
}

static void divide_signal(struct pelt *p, size_t least) {
    size_t n = p->signal.n, n_starts = 0;
    double penalty = PENALTY * PHASE_FEATURES * log((double)n + 1);
    for (size_t end = 0; end <= n; end++)
        p->cost[end] = end ? INFINITY : -penalty;
    p->pruned[n_starts++] = 0;
    for (size_t end = least; end <= n; end++) {
        size_t kept = 0;
        for (size_t s = 0; s < n_starts; s++) {
            size_t start = p->pruned[s];
            double total = p->cost[start] + cost_between(p, start, end) + penalty;
            if (total < p->cost[end]) {
                p->cost[end] = total;
                p->previous[end] = start;
            }
        }
        for (size_t s = 0; s < n_starts; s++) {
            size_t start = p->pruned[s];
            if (p->cost[start] + cost_between(p, start, end) <= p->cost[end])
                p->pruned[kept++] = start;
        }
        n_starts = kept;
        if (end + 1 >= 2 * least && end + 1 - least > 0 && p->cost[end + 1 - least] < INFINITY)
            p->pruned[n_starts++] = end + 1 - least;
    }
}

int phase_change_points(struct phase_signal signal, size_t least, size_t *ends, size_t *ret_n) {
    struct pelt p;
    size_t n = 0;
    int result = signal.n ? pelt_init(&p, signal) : 0;
    *ret_n = 0;
    if (!signal.n)
        return 0;
    if (result == 0 && signal.n < 2 * least) {
        ends[0] = signal.n;
        *ret_n = 1;
    } else if (result == 0) {
        divide_signal(&p, least);
        for (size_t end = signal.n; end; end = p.previous[end])
            n++;
        *ret_n = n;
        for (size_t end = signal.n; end; end = p.previous[end])
            ends[--n] = end;
    }
    pelt_release(&p);
    return result;
}
