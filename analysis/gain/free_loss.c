/* SPDX-License-Identifier: MIT */
#include "analysis/gain/free_loss.h"

#include <math.h>
#include <stdlib.h>

struct loss free_loss(const struct run_model *model, size_t group, const struct free_rank *rank,
                      double seconds) {
    const struct rank_budget *b = &model->budgets.items[rank->budget];
    double host_s = 0;
    for (size_t r = 0; r < model->budgets.n; r++)
        if (model->budgets.items[r].host == b->host &&
            !isnan(model->budgets.items[r].groups[group].term_s[BUDGET_CPU]))
            host_s += model->budgets.items[r].groups[group].term_s[BUDGET_CPU];
    return (struct loss){.host = b->host,
                         .rank = b->rank,
                         .group = group,
                         .terms = 1u << BUDGET_CPU,
                         .part = host_s > 0 ? fmin(1, fmax(0, seconds) / host_s) : 0};
}

bool free_loss_like_peers(const struct run_model *model, size_t group, int rank,
                          struct loss *ret_loss) {
    struct free_ranks ranks;
    if (!throughput_counts(model, group) || free_ranks_make(model, group, &ranks) <= 0)
        return false;
    struct core_speed *cores = core_speeds_of(model, group);
    const struct free_rank *who = NULL;
    free_ranks_find_best(model, &ranks);
    for (size_t i = 0; cores && !who && i < ranks.n_own; i++)
        who = model->budgets.items[ranks.items[i].budget].rank == rank ? &ranks.items[i] : NULL;
    if (who) {
        struct core_speed core = free_rank_core(model, &ranks, who, cores);
        *ret_loss = free_loss(model, group, who, who->done * free_rank_beyond(model, who, &core));
    }
    free(cores);
    return who != NULL;
}
