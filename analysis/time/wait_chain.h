/* SPDX-License-Identifier: MIT */
/*
 * The critical path of a job whose waits were clocked, without MPI calls: chains of waits that end
 * at a process that waits for nobody.
 *
 * In each short cell of time every process that takes part begins a chain. A process is charged
 * with what it did itself. The time in which it waited for another process continues in that one,
 * divided by what that one did then. At any moment waits form no circle: when a process waits for
 * one that stands before it in the chain, that is not what the chain waits for. So each process of
 * a chain is charged by its time without waits for those before it. If that time is shorter than
 * the wait for it, both waited for each other: the data were under way, which is transfer. The same
 * holds for the part of a wait that overlaps the time in which its data were under way.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_WAIT_CHAIN_H
#define CHOKEPOINT_ANALYSIS_TIME_WAIT_CHAIN_H

#include "analysis/time/critical_path.h"
#include "analysis/time/wait_peers.h"

struct rank_budgets;
struct wait_chain;

/* NULL in *ret_chain if no process of the recording was clocked, or if MPI calls tell more. The
 * path must have its blocks. -ENOMEM.
 */
int wait_chain_new(const struct run_model *model, const struct critical_path *path,
                   struct wait_chain **ret_chain);
void wait_chain_free(struct wait_chain *chain);

/* Adds a process with its index among the budgets, in order from 0 on. -ENOMEM. */
int wait_chain_add(struct wait_chain *chain, const struct budget_subject *subject, int host,
                   int64_t pid);

/* After all were added: fills the path, if most of the processes' time was clocked, and who waited
 * for whom. -ENOMEM.
 */
int wait_chain_walk(struct wait_chain *chain, struct critical_path *path,
                    struct rank_budgets *ranks);

#endif
