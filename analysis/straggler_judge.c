/* SPDX-License-Identifier: MIT */
/* When a rank's own times make it a straggler: plain numbers in, a judgement out. */
#include "analysis/straggler.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/stats.h"

static double flagged_share(const double *own, const double *reference, size_t n) {
    size_t flagged = 0;
    for (size_t i = 0; i < n; i++)
        flagged += own[i] >= STRAGGLER_RATIO * reference[i];
    return n ? (double)flagged / (double)n : 0;
}

/* Few before some point and most after it: it began there. Otherwise spread over the run. */
static const char *kind_of(const double *own, const double *reference, size_t n, double flagged) {
    for (size_t cut = n / 10 + 3; cut + 3 < n; cut++)
        if (flagged_share(own, reference, cut) <= 0.1 &&
            flagged_share(own + cut, reference + cut, n - cut) >= 0.9)
            return "onset";
    return flagged >= 0.8 ? "persistent" : "intermittent";
}

/* With four or more peers a ratio is not enough: it must lie outside their own spread. */
static bool outlying(double median, const double *peers, size_t n) {
    double *deviations = n >= 4 ? malloc(n * sizeof *deviations) : NULL;
    if (!deviations)
        return n < 4;
    double middle = stats_median(peers, n);
    for (size_t i = 0; i < n; i++)
        deviations[i] = fabs(peers[i] - middle);
    double mad = 1.4826 * stats_median(deviations, n);
    free(deviations);
    return median - middle >= STRAGGLER_Z * mad;
}

struct straggler_judgement straggler_judge(const double *own, const double *reference, size_t n,
                                           const double *peer_medians, size_t n_peers) {
    struct straggler_judgement j = {.flagged = flagged_share(own, reference, n)};
    double median = stats_median(own, n), peers = stats_median(peer_medians, n_peers);
    j.ratio = median / peers;
    size_t count = (size_t)lround(j.flagged * (double)n);
    if (n < STRAGGLER_ITERATIONS || !n_peers || !(j.ratio >= STRAGGLER_RATIO) ||
        j.flagged < STRAGGLER_SHARE || !outlying(median, peer_medians, n_peers))
        return j;
    if (stats_binomial_tail(count, n, 0.5) < STRAGGLER_P)
        j.kind = kind_of(own, reference, n, j.flagged);
    return j;
}
