/* SPDX-License-Identifier: MIT */
/*
 * The critical path of a job whose waits were clocked, without any call of MPI: chains of waits to
 * the process that waits for nobody.
 *
 * In each short cell of time every process that takes part begins a chain. A process is charged
 * with what it did itself; the time in which it waited for another goes on in that one, divided by
 * what that one did then. At one moment waits form no circle: a wait for somebody in the chain is
 * not what the chain waits for. So each process of a chain is charged by its time without waits for
 * those before it. Where that is shorter than the wait for it, both waited for each other: the data
 * were under way, which is transfer. So is the part of a wait that has no room beside the time in
 * which its data were under way.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_WAIT_CHAIN_H
#define CHOKEPOINT_ANALYSIS_TIME_WAIT_CHAIN_H

#include "analysis/time/critical_path.h"
#include "analysis/time/wait_peers.h"

struct rank_budgets;
struct wait_chain;

/* NULL in *ret_chain: no process of the recording was clocked, or MPI calls tell more. The path
 * must have its blocks. -ENOMEM. */
int wait_chain_new(const struct run_model *model, const struct critical_path *path,
                   struct wait_chain **ret_chain);
void wait_chain_free(struct wait_chain *chain);

/* Adds a process, as number `index` of the budgets: from 0 on, one after the other. -ENOMEM. */
int wait_chain_add(struct wait_chain *chain, const struct budget_subject *subject, int host,
                   int64_t pid);

/* When all were added: fills the path, where most of the processes' time was clocked, and who
 * waited for whom. -ENOMEM. */
int wait_chain_walk(struct wait_chain *chain, struct critical_path *path,
                    struct rank_budgets *ranks);

#endif
