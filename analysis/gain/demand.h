/* SPDX-License-Identifier: MIT */
/* How much of the run a term takes up on a host or in a rank: its share of the critical path or,
 * where ranks run freely, of the iterations that it costs. */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_DEMAND_H
#define CHOKEPOINT_ANALYSIS_GAIN_DEMAND_H

#include "analysis/run_model.h"

/* Share of the critical path of a group; NAN where it is not known. */
double model_demand(const struct run_model *model, size_t group, int host, enum budget_term term);

/* The same of one rank (index of the model's budgets). */
double model_rank_demand(const struct run_model *model, size_t group, size_t rank_budget,
                         enum budget_term term);

#endif
