/* SPDX-License-Identifier: MIT */
/* Decides from a rank's own times whether it is a straggler: plain numbers in, a judgement out. */
#include "analysis/causes/straggler.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/facts/series/stats.h"

static double flagged_share(const struct judge *judge, const double *own, const double *reference,
                            size_t n) {
    size_t flagged = 0;
    for (size_t i = 0; i < n; i++)
        flagged += own[i] >= number_by(judge, STRAGGLER_RATIO) * reference[i];
    return n ? (double)flagged / (double)n : 0;
}

/* The change point of the flags: the split into "no" and "yes" that fits most of them. */
static size_t change_point(const struct judge *judge, const double *own, const double *reference,
                           size_t n) {
    size_t flagged = 0, best = 0, wrong, least;
    for (size_t i = 0; i < n; i++)
        flagged += own[i] >= number_by(judge, STRAGGLER_RATIO) * reference[i];
    least = wrong = n - flagged; /* all "yes" */
    for (size_t i = 0; i < n; i++) {
        bool is = own[i] >= number_by(judge, STRAGGLER_RATIO) * reference[i];
        wrong = is ? wrong + 1 : wrong - 1;
        if (wrong < least) {
            least = wrong;
            best = i + 1;
        }
    }
    return best;
}

/* Index at which it became slow; 0: it always was, or only at times. */
static size_t onset(const struct judge *judge, const double *own, const double *reference,
                    size_t n) {
    size_t cut = change_point(judge, own, reference, n);
    if (cut < number_by(judge, STRAGGLER_ITERATIONS) / 2 ||
        cut + number_by(judge, STRAGGLER_ITERATIONS) > n)
        return 0;
    bool began = flagged_share(judge, own, reference, cut) <= number_by(judge, STRAGGLER_BEFORE) &&
                 flagged_share(judge, own + cut, reference + cut, n - cut) >=
                     number_by(judge, STRAGGLER_AFTER);
    return began ? cut : 0;
}

/* With four or more peers a ratio is not enough: the rank must lie outside the peers' spread. */
static bool outlying(const struct judge *judge, double median, const double *peers, size_t n) {
    double *deviations = n >= 4 ? malloc(n * sizeof *deviations) : NULL;
    if (!deviations)
        return n < 4;
    double middle = stats_median(peers, n);
    for (size_t i = 0; i < n; i++)
        deviations[i] = fabs(peers[i] - middle);
    double mad = 1.4826 * stats_median(deviations, n);
    free(deviations);
    return median - middle >= number_by(judge, STRAGGLER_Z) * mad;
}

struct straggler_judgement straggler_judge(const struct judge *judge, const double *own,
                                           const double *reference, size_t n,
                                           const double *peer_medians, size_t n_peers) {
    struct straggler_judgement j = {.flagged = flagged_share(judge, own, reference, n),
                                    .from = onset(judge, own, reference, n)};
    size_t rest = n - j.from;
    double median = stats_median(own + j.from, rest);
    double peers =
        j.from ? stats_median(reference + j.from, rest) : stats_median(peer_medians, n_peers);
    j.share = flagged_share(judge, own + j.from, reference + j.from, rest);
    j.ratio = median / peers;
    size_t count = (size_t)lround(j.share * (double)rest);
    if (rest < number_by(judge, STRAGGLER_ITERATIONS) || !n_peers ||
        !(j.ratio >= number_by(judge, STRAGGLER_RATIO)) ||
        j.share < number_by(judge, STRAGGLER_SHARE) ||
        !outlying(judge, median, peer_medians, n_peers) ||
        stats_binomial_tail(count, rest, 0.5) >= number_by(judge, STRAGGLER_P))
        return j;
    j.kind = j.from ? "onset" : j.share >= 0.8 ? "persistent" : "intermittent";
    return j;
}
