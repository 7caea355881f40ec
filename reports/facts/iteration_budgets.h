/* SPDX-License-Identifier: MIT */
/* Where each rank's time went, iteration by iteration. */
#ifndef CHOKEPOINT_REPORTS_FACTS_ITERATION_BUDGETS_H
#define CHOKEPOINT_REPORTS_FACTS_ITERATION_BUDGETS_H

#include "analysis/run_model.h"

#define ITERATION_BUDGETS_MAX 100000

struct report_iteration_budget {
    size_t whose; /* index among the ranks with a budget of the whole run */
    size_t phase; /* the model's phase in which it ends; 0: none */
    int64_t number;
    int64_t begin_ns, end_ns;
    struct budget budget;
};

struct iteration_budgets {
    struct report_iteration_budget *items; /* for the caller to free; by rank, then by time */
    size_t n;
    size_t every; /* every n-th iteration of a rank is listed; 1: all */
};

/* -ENOMEM. */
int iteration_budgets_of(const struct run_model *model, struct iteration_budgets *ret_budgets);

#endif
