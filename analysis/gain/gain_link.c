/* SPDX-License-Identifier: MIT */
/*
 * Gain without a link's limit, by counters. If all processes wait for as long as data were under
 * way, the order of waits need not be known: a process that sends waits for the link, and so does
 * the one that waits for what it sends. Whether its two ways are used by turns or at once no
 * counter says: where the one that is used for longer accounts for all they wait, the other was
 * used meanwhile; only where it does not, both count.
 */
#include <math.h>

#include "analysis/gain/gain_private.h"
#include "analysis/gain/gain_warm.h"

#define ALIKE 0.9 /* all wait as long as each other, and as the link was in use, but for that */

/* Share of their time that processes of the host, or all others, had data on the way: of the one
 * that had most. */
static double sending(const struct run_model *model, int host, bool others) {
    double most = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct budget *b = gain_budget(model, r, 0);
        if ((model->budgets.items[r].host == host) != others && gain_works(model, r, 0))
            most = fmax(most, budget_sum(b, BIT(BUDGET_TRANSFER)) / b->wall_s);
    }
    return most;
}

/* One way or the other, for all that they wait if possible: shares of their time. With two hosts,
 * all that comes to one was on its way from the other. */
static double in_use(const struct run_model *model, const struct counted_link *link, double least,
                     double most) {
    double out = sending(model, link->host, false);
    double in = model->n_hosts == 2 ? sending(model, link->host, true) : 0;
    double longer = fmin(1, fmax(link->way, fmax(out, in)));
    if (ALIKE * most <= fmin(longer, least))
        return longer;
    return fmin(1, fmax(link->ways, out + in));
}

/* How long processes wait, as shares of their time. */
struct waits {
    double least, most;
    double seen; /* of the run, of the one that was recorded least */
    size_t n;
};

static struct waits waits_of(const struct run_model *model) {
    struct waits all = {.least = NAN, .most = NAN, .seen = 1};
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct budget *b = gain_budget(model, r, 0);
        if (!gain_works(model, r, 0))
            continue;
        double waits = gain_waiting_s(b) / b->wall_s;
        all.least = fmin(all.least, waits);
        all.most = fmax(all.most, waits);
        all.seen = fmin(all.seen, gain_covered(model, r, 0));
        all.n++;
    }
    return all;
}

bool gain_counted_link(const struct run_model *model, const struct counted_link *link,
                       struct counted *ret_counted) {
    struct waits all = waits_of(model);
    double used = in_use(model, link, all.least, all.most);
    *ret_counted = COUNTED_NOTHING;
    if (all.n < 2 || all.seen < LIVES || !(all.least >= ALIKE * link->way) ||
        ALIKE * all.most > fmin(used, all.least))
        return false;
    double gain = fmin(used, all.least);
    *ret_counted = (struct counted){.lost = NAN,
                                    .lost_low = NAN,
                                    .lost_high = NAN,
                                    .gain = gain_warm(gain, 1),
                                    .gain_low = gain_at_pace(gain, PACE_SLOWER) * all.seen,
                                    .gain_high = gain_at_pace(all.most, PACE_FASTER)};
    return true;
}
