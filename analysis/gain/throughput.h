/* SPDX-License-Identifier: MIT */
/*
 * The cost of a limit for a program whose ranks run freely (free_running.h): the iterations that
 * all its ranks would have done in the same time without it. Each rank's own path tells how much of
 * its time the limit took: its own time, and its waits for others because of the limit. The rates
 * add up in closed form (parameter_server.h). A replay repeats the same calls, so it would find no
 * gain where ranks just do more of them.
 */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_THROUGHPUT_H
#define CHOKEPOINT_ANALYSIS_GAIN_THROUGHPUT_H

#include "analysis/gain/gain.h"
#include "analysis/gain/loss.h"
#include "analysis/run_model.h"

/* Terms of the budget that vanish if a rank has a core to itself. */
#define THROUGHPUT_FOR_A_CORE (1u << BUDGET_RUN_QUEUE | 1u << BUDGET_QUOTA)

/* The share of the group's time that a term costs on a host, or only for one rank (its index among
 * the budgets). 0 where throughput does not count.
 */
double throughput_loss(const struct run_model *model, size_t group, int host,
                       enum budget_term term);
double throughput_rank_loss(const struct run_model *model, size_t group, size_t rank_budget,
                            enum budget_term term);

/* The share of the group's time that a loss of terms, or of a link, costs. */
double throughput_cost(const struct run_model *model, const struct loss *loss);

/* The gain without `part` (1: all) of that loss, as a share of the run, with a 95 % interval by a
 * bootstrap over slices of the group. At most limit_per_s iterations a second are done. -ENOMEM.
 */
int throughput_gain(const struct run_model *model, const struct loss *loss, double part,
                    double limit_per_s, struct gain *ret_gain);

/* The run's time divided by its time if the rank's iterations took 1 / slowdown of theirs. NAN if
 * it does no iterations that count.
 */
double throughput_severity(const struct run_model *model, int host, int64_t pid, double slowdown);

/* The share of the run that freely running ranks lost for want of a core outside the main phase,
 * where all wait for each other (start and end): the loss of the rank on the host (-1: any rank)
 * that lost most, beyond that of any rank elsewhere. 0 for terms without a core.
 */
double throughput_lost_beside(const struct run_model *model, int host, int rank, unsigned terms);

#endif
