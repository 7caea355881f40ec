/* SPDX-License-Identifier: MIT */
/* The walk back through the calls, and how a critical path is put together while the ranks' budgets
 * are made: each rank's counters are cut to size once only. */
#ifndef CHOKEPOINT_ANALYSIS_CRITICAL_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_CRITICAL_PRIVATE_H

#include "analysis/critical_path.h"
#include "analysis/rank_budget.h"

/* Stretches of the path in each rank of the log: in time order, disjoint across all ranks, from
 * before everything to after everything. */
struct critical_walk {
    struct window **stretches; /* [rank of the log] */
    size_t *n, *capacity;
    size_t n_ranks;
};

/* Time and memory grow with the number of calls. -ENOMEM. */
int critical_walk_make(const struct mpi_log *log, const struct call_matches *matches,
                       const struct call_clock *clock, struct critical_walk *ret_walk);
void critical_walk_release(struct critical_walk *walk);

/* Parts of a path for n_ranks budgets, empty. The scene must have phases and iterations. -ENOMEM.
 */
int critical_path_begin(const struct scene *scene, size_t n_ranks, struct critical_path *ret_path);
/* Adds what rank `index` of the budgets did on the path. -ENOMEM. */
int critical_path_add(const struct scene *scene, const struct critical_walk *walk, size_t index,
                      const struct budget_subject *subject, struct critical_path *path);
/* When all ranks were added. */
void critical_path_finish(const struct scene *scene, const struct rank_budgets *ranks,
                          struct critical_path *path);

#endif
