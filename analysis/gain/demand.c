/* SPDX-License-Identifier: MIT */
#include "analysis/gain/demand.h"

#include <math.h>

#include "analysis/gain/throughput.h"

/* Transfers keep their plain share of the path: callers sum them over all hosts. */
double model_demand(const struct run_model *model, size_t group, int host, enum budget_term term) {
    if (throughput_counts(model, group) && term != BUDGET_TRANSFER)
        return throughput_loss(model, group, host, term);
    return model_has_path(model) ? critical_share(&model->critical.groups[group], host, term) : NAN;
}

double model_rank_demand(const struct run_model *model, size_t group, size_t rank_budget,
                         enum budget_term term) {
    if (!model_has_path(model) || rank_budget >= model->critical.n_ranks)
        return NAN;
    if (throughput_counts(model, group))
        return throughput_rank_loss(model, group, rank_budget, term);
    const struct critical_part *part = &model->critical.groups[group];
    return part->total_s > 0
               ? part->rank_seconds[rank_budget * BUDGET_TERMS + (size_t)term] / part->total_s
               : 0;
}
