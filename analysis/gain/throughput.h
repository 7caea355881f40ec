/* SPDX-License-Identifier: MIT */
/*
 * Cost of a limit for a program whose ranks run freely (free_running.h): the iterations that all
 * of its ranks would have done in the same time without it. Each rank's own path says how much of
 * its time that is, its own and what it waited for others because of it; the rates add up in closed
 * form (parameter_server.h). A replay could not tell: it does the same calls again, and would find
 * nothing to be gained where the others just do more of them.
 */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_THROUGHPUT_H
#define CHOKEPOINT_ANALYSIS_GAIN_THROUGHPUT_H

#include "analysis/gain/gain.h"
#include "analysis/gain/loss.h"
#include "analysis/run_model.h"

/* Terms of the budget that end with a core of one's own. */
#define THROUGHPUT_FOR_A_CORE (1u << BUDGET_RUN_QUEUE | 1u << BUDGET_QUOTA)

/* Share of the group's time that a term costs on a host; of one rank (index of the budgets) only.
 * 0 where throughput does not count. */
double throughput_loss(const struct run_model *model, size_t group, int host,
                       enum budget_term term);
double throughput_rank_loss(const struct run_model *model, size_t group, size_t rank_budget,
                            enum budget_term term);

/* Share of the group's time that a loss of terms, or of a link, costs. */
double throughput_cost(const struct run_model *model, const struct loss *loss);

/* The same without that part of it (1: all), as a share of the run, with 95 % of a bootstrap over
 * slices of the group. At most limit_per_s iterations a second would be done. -ENOMEM. */
int throughput_gain(const struct run_model *model, const struct loss *loss, double part,
                    double limit_per_s, struct gain *ret_gain);

/* Run time over the run time if the rank's iterations took 1 / slowdown of their time. NAN: it does
 * none that count. */
double throughput_severity(const struct run_model *model, int host, int64_t pid, double slowdown);

/* Core time that ranks that run freely lost outside the main phase, where they all wait for each
 * other (start and end): of the rank on the host (-1: of any there) that lost most, beyond what any
 * rank elsewhere did, as a share of the run. 0 of terms that are not of a core. */
double throughput_lost_beside(const struct run_model *model, int host, int rank, unsigned terms);

#endif
