/* SPDX-License-Identifier: MIT */
/* The walk back through the calls, and how a critical path is put together while the ranks' budgets
 * are made: each rank's counters are cut to size once only. */
#ifndef CHOKEPOINT_ANALYSIS_TIME_CRITICAL_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_TIME_CRITICAL_PRIVATE_H

#include "analysis/time/critical_path.h"
#include "analysis/time/rank_budget.h"
#include "analysis/time/serving.h"

struct critical_walker;

/* Knows all waits of all ranks; log, matches and clock must outlive it. -ENOMEM. */
int critical_walker_new(const struct mpi_log *log, const struct call_matches *matches,
                        const struct call_clock *clock, struct critical_walker **ret_walker);
void critical_walker_free(struct critical_walker *walker);

/* Back from the last exit of all. Time and memory grow with the number of calls. -ENOMEM. */
int critical_walk_make(struct critical_walker *walker, struct critical_walk *ret_walk);
/* Within the windows what one rank of the log did, and while it waited for another what that one
 * did meanwhile (and no earlier: before, it held up nobody). -ENOMEM. */
int critical_walk_own(struct critical_walker *walker, size_t rank, struct windows within,
                      struct critical_walk *ret_walk);
/* Adds of `other` what lies outside of the windows, in which `walk` must lie. -ENOMEM. */
int critical_walk_fill(struct critical_walk *walk, const struct critical_walk *other,
                       struct windows within);
void critical_walk_release(struct critical_walk *walk);

/* Parts of a path for n_ranks budgets, empty. The model must have phases and iterations. -ENOMEM.
 */
int critical_path_begin(const struct run_model *model, size_t n_ranks,
                        struct critical_path *ret_path);
/* Where ranks run freely, a path for each of them; else none. The path must be begun. -ENOMEM. */
int critical_path_divide(const struct run_model *model, struct critical_walker *walker,
                         const struct critical_walk *walk, struct critical_path *path);
/* Adds what rank `index` of the budgets did on the path. -ENOMEM. */
int critical_path_add(const struct run_model *model, const struct critical_walk *walk, size_t index,
                      const struct budget_subject *subject, struct critical_path *path);
/* When all ranks were added. */
void critical_path_finish(const struct run_model *model, const struct rank_budgets *ranks,
                          struct critical_path *path);

#endif
