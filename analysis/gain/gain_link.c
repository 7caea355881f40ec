/* SPDX-License-Identifier: MIT */
/*
 * The gain without a link's limit, from counters. If all processes wait as long as data were under
 * way, the order of waits need not be known: the sender waits for the link, and so does the
 * receiver. Counters do not show whether both directions were used in turn or at once. If the
 * busier direction accounts for all waits, the other was used at the same time; only if it does
 * not, both count.
 */
#include <math.h>

#include "analysis/gain/gain_private.h"
#include "analysis/gain/gain_warm.h"

#define ALIKE 0.9 /* of each other: waits of all processes and use of the link are alike */

/* The share of time for which a process of the host, or of all others, had data under way: that of
 * the busiest one.
 */
static double sending(const struct run_model *model, int host, bool others) {
    double most = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct budget *b = gain_budget(model, r, 0);
        if ((model->budgets.items[r].host == host) != others && gain_works(model, r, 0))
            most = fmax(most, budget_sum(b, BIT(BUDGET_TRANSFER)) / b->wall_s);
    }
    return most;
}

/* The share of time for which the link was in use: one direction if that explains all waits, else
 * both. With two hosts, all that reaches one was sent by the other.
 */
static double link_use(const struct run_model *model, const struct counted_link *link, double least,
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
    double seen; /* recorded share of the run, of the process recorded least */
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
    double used = link_use(model, link, all.least, all.most);
    *ret_counted = COUNTED_NOTHING;
    if (all.n < 2 || all.seen < LIVES || !(all.least >= ALIKE * link->way) ||
        ALIKE * all.most > fmin(used, all.least))
        return false;
    double gain = fmin(used, all.least);
    *ret_counted =
        (struct counted){.lost = NAN,
                         .lost_low = NAN,
                         .lost_high = NAN,
                         .gain = gain_warm(gain, 1),
                         .gain_low = gain_at_pace(gain, number_of(model, PACE_SLOWER)) * all.seen,
                         .gain_high = gain_at_pace(all.most, number_of(model, PACE_FASTER))};
    return true;
}
