/* SPDX-License-Identifier: MIT */
/* Where each rank's time went, iteration by iteration. */
#ifndef CHOKEPOINT_REPORTS_FACTS_ITERATION_BUDGETS_H
#define CHOKEPOINT_REPORTS_FACTS_ITERATION_BUDGETS_H

#include "analysis/run_model.h"

#define ITERATION_BUDGETS_MAX 100000

struct report_iteration_budget {
    size_t whose; /* number of its rank among those whose whole run has a budget */
    size_t phase; /* of the model, in which it ends; 0: in none, or the program has none */
    int64_t number;
    int64_t begin_ns, end_ns;
    struct budget budget;
};

struct iteration_budgets {
    struct report_iteration_budget *items; /* the caller's to free; by rank, then by time */
    size_t n;
    size_t every; /* every n-th iteration of a rank is there; 1: all */
};

/* -ENOMEM. */
int iteration_budgets_of(const struct run_model *model, struct iteration_budgets *ret_budgets);

#endif
