/* SPDX-License-Identifier: MIT */
/* A rank does not run and needs nothing of its host, while its peers wait for it. */
#include <errno.h>
#include <math.h>

#include "analysis/causes/causes_private.h"

int rank_pause_add(const struct run_model *model, size_t group, size_t who,
                   const struct rank_pause *pause, double demand, struct candidates *candidates) {
    const struct rank_budget *b = &model->budgets.items[who];
    size_t n_peers;
    double own = rank_share(model, group, who, pause->term);
    double median = rank_peers_median(model, group, who, pause->term, 0, &n_peers);
    bool alone = !(median >= own / number_of(model, SLEEP_RATIO));
    struct candidate c = pause_candidate(model, group, who, pause->cause, pause->term, demand);
    c.signals += alone;
    remark_fill(&c.cause, pause->says, NUMBERS(b->rank), NAMES());
    remarks_append(&c.evidence, pause->evidence, NUMBERS(b->rank, 100 * own), NAMES());
    if (alone && !isnan(median))
        remarks_add(&c.evidence, PEERS_PAUSED_LESS, NUMBERS(100 * median), NAMES());
    else if (!isnan(median))
        remarks_add(&c.against, PEERS_PAUSED_TOO, NUMBERS(100 * median), NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* The rank that pauses longest. */
size_t rank_pause_longest(const struct run_model *model, size_t group, enum budget_term term,
                          double *ret_demand) {
    size_t who = rank_with_most(model, group, term, NULL);
    *ret_demand = who == SIZE_MAX ? 0 : model_rank_demand(model, group, who, term);
    return *ret_demand >= number_of(model, BLOCKED_MIN) ? who : SIZE_MAX;
}
