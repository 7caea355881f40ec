/* SPDX-License-Identifier: MIT */
/* The share of the run that a term takes on a host or in a rank: of the critical path or, where
 * ranks run freely, of the iterations that it costs.
 */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_DEMAND_H
#define CHOKEPOINT_ANALYSIS_GAIN_DEMAND_H

#include "analysis/run_model.h"

/* The share of a group's critical path; NAN if not known. */
double model_demand(const struct run_model *model, size_t group, int host, enum budget_term term);

/* The share of a group's critical path in one rank (its index among the model's budgets). */
double model_rank_demand(const struct run_model *model, size_t group, size_t rank_budget,
                         enum budget_term term);

#endif
