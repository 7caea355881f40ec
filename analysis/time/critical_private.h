/* SPDX-License-Identifier: MIT */
/* Follows the calls back, and builds a critical path while the ranks' budgets are made, so that
 * each rank's counters are divided only once.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_CRITICAL_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_TIME_CRITICAL_PRIVATE_H

#include "analysis/time/critical_path.h"
#include "analysis/time/rank_budget.h"
#include "analysis/time/serving.h"

struct critical_walker;

/* Finds all waits of all ranks; log, matches and clock must outlive it. -ENOMEM. */
int critical_walker_new(const struct mpi_log *log, const struct call_matches *matches,
                        const struct call_clock *clock, const struct judge *judge,
                        struct critical_walker **ret_walker);
void critical_walker_free(struct critical_walker *walker);

/* Follows the path back from the last exit. Time and memory grow with the number of calls. -ENOMEM.
 */
int critical_walk_make(struct critical_walker *walker, struct critical_walk *ret_walk);
/* Collects the stretches of one rank of the log within the windows and, while it waited for
 * another, those of that one (not earlier ones: before, it held up nobody). -ENOMEM.
 */
int critical_walk_own(struct critical_walker *walker, size_t rank, struct windows within,
                      struct critical_walk *ret_walk);
/* Adds the stretches of `other` outside the windows; `walk` must lie within them. -ENOMEM. */
int critical_walk_fill(struct critical_walk *walk, const struct critical_walk *other,
                       struct windows within);
void critical_walk_release(struct critical_walk *walk);

/* Makes an empty path with parts for n_ranks budgets. The model must have phases and iterations.
 * -ENOMEM.
 */
int critical_path_begin(const struct run_model *model, size_t n_ranks,
                        struct critical_path *ret_path);
/* If ranks run freely, makes a path for each of them. The path must be begun. -ENOMEM. */
int critical_path_divide(const struct run_model *model, struct critical_walker *walker,
                         const struct critical_walk *walk, struct critical_path *path);
/* Adds to the path what rank `index` of the budgets did on it. -ENOMEM. */
int critical_path_add(const struct run_model *model, const struct critical_walk *walk, size_t index,
                      const struct budget_subject *subject, struct critical_path *path);
/* Completes the path after all ranks were added. */
void critical_path_finish(const struct run_model *model, const struct rank_budgets *ranks,
                          struct critical_path *path);

#endif
