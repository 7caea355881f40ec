/* SPDX-License-Identifier: MIT */
/* A process's part of what counters say (rank_counters.c). */
#ifndef CHOKEPOINT_ANALYSIS_TIME_RANK_BUDGET_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_TIME_RANK_BUDGET_PRIVATE_H

#include "analysis/evidence/run_model.h"
#include "analysis/time/rank_budget.h"

/* The series of a process's totals of MPI; NULL if it has none. */
const struct series *budget_mpi_series(const struct recording *recording, int host, int64_t pid);

/* One interval for each row of the process. *ret_intervals is the caller's. -ENOMEM. */
int budget_intervals(const struct run_model *model, const struct model_process *process,
                     int64_t pid, struct budget_interval **ret_intervals, size_t *ret_n);

/* Puts waits for a core and for disks where they were; the kernel counts them when they end
 * (rank_wait.c). */
void budget_settle_waits(struct budget_interval *intervals, size_t n);

/* From its start, as the kernel says, to its last sign of life. */
void budget_life(const struct run_model *model, const struct model_process *process,
                 struct budget_subject *subject);

struct transfer_split budget_transfer_split(const struct recording *recording, int host,
                                            int64_t pid, struct windows windows);

#endif
