/* SPDX-License-Identifier: MIT */
/* Shares of the time of ranks whose calls are known, and of their peers. */
#include <math.h>
#include <stdlib.h>

#include "analysis/causes/causes_private.h"
#include "analysis/facts/series/stats.h"

double rank_share(const struct run_model *model, size_t group, size_t rank, enum budget_term term) {
    const struct budget *b = &model->budgets.items[rank].groups[group];
    return b->source == BUDGET_FROM_EVENTS && budget_closes(b) ? b->term_s[term] / b->wall_s : NAN;
}

/* Median over the other ranks that have at least `least` of it; NAN: there are none. */
double rank_peers_median(const struct run_model *model, size_t group, size_t rank,
                         enum budget_term term, double least, size_t *ret_n) {
    double *shares = malloc((model->budgets.n + 1) * sizeof *shares);
    size_t n = 0;
    for (size_t r = 0; shares && r < model->budgets.n; r++) {
        double share = r == rank ? NAN : rank_share(model, group, r, term);
        if (share >= least)
            shares[n++] = share;
    }
    double median = stats_median(shares, n);
    free(shares);
    *ret_n = n;
    return median;
}

/* cores: of the hosts, if a faster core shortens the term; else NULL. */
size_t rank_with_most(const struct run_model *model, size_t group, enum budget_term term,
                      const struct core_speed *cores) {
    size_t most = SIZE_MAX;
    double most_share = NAN;
    for (size_t r = 0; r < model->budgets.n; r++) {
        double share = rank_share(model, group, r, term);
        share /= cores ? cores[model->budgets.items[r].host].slower : 1;
        if (isnan(share) || share <= most_share)
            continue;
        most = r;
        most_share = share;
    }
    return most;
}
