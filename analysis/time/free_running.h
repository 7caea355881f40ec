/* SPDX-License-Identifier: MIT */
/*
 * Programs whose ranks run freely: each takes its next piece of work when it is done with one, and
 * waits for no other (asynchronous training, a pool of tasks). The measure is the number of
 * iterations that all ranks get done in a second, not the length of one: the run ends when all of
 * them together have done enough.
 *
 * A recording does not say so; the ranks show it. They end together, having done unlike numbers of
 * iterations, and without group calls in between. Ranks that happened to do equally many are no
 * loss: nobody was slow, or the program is in step.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_FREE_RUNNING_H
#define CHOKEPOINT_ANALYSIS_TIME_FREE_RUNNING_H

#include <stddef.h>

#include "analysis/facts/iteration/iteration.h"

struct run_model;

#define FREE_RANKS_MAX 64 /* more are not told apart: time would grow with their square */

/* The ranks that make progress in the main group, as indexes of the log's ranks (NULL: not wanted),
 * by rank. Returns how many; 0: the program is in step, or it is not known. The model must have
 * iterations and groups. */
size_t free_running(const struct run_model *model, size_t log_ranks[FREE_RANKS_MAX]);

/* The iterations of a rank of the log; NULL: none. */
const struct rank_iterations *free_running_iterations(const struct run_model *model,
                                                      size_t log_rank);

/* How many iterations lie in the windows; those that reach out count for their part inside. */
double free_running_done(const struct rank_iterations *iterations, struct windows windows);

#endif
