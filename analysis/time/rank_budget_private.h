/* SPDX-License-Identifier: MIT */
/* A process's part of the counters (rank_counters.c). */
#ifndef CHOKEPOINT_ANALYSIS_TIME_RANK_BUDGET_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_TIME_RANK_BUDGET_PRIVATE_H

#include "analysis/run_model.h"
#include "analysis/time/rank_budget.h"

/* Chooses the processes that get budgets: ranks, or without ranks the busiest ones, in order; then
 * helpers (budget_choice.c). There must be room for all processes. *ret_n excludes helpers.
 * -ENOMEM.
 */
int budget_choose(const struct run_model *model, const struct model_process **chosen, size_t *ret_n,
                  size_t *ret_helpers);

/* The kernel counts waits for a core or a disk when they end, and stops are sampled; this moves
 * both to the intervals in which they happened (rank_wait.c).
 */
void budget_settle_waits(struct budget_interval *intervals, size_t n);

struct transfer_split budget_transfer_split(const struct recording *recording, int host,
                                            int64_t pid, struct windows windows);

#endif
