/* SPDX-License-Identifier: MIT */
/*
 * Programs whose ranks run freely: each takes its next piece of work when it has done one, and
 * waits for no other (asynchronous training, a pool of tasks). Their speed is the number of
 * iterations that all ranks do in a second, not the length of an iteration: the run ends when all
 * of them together have done enough.
 *
 * The ranks' behaviour shows it: they end together, after different numbers of iterations, without
 * group calls in between. If ranks happen to do equally many iterations, nothing is lost by not
 * noticing: none was slow, or the program is in step.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_FREE_RUNNING_H
#define CHOKEPOINT_ANALYSIS_TIME_FREE_RUNNING_H

#include <stddef.h>

#include "analysis/facts/iteration/iteration.h"

struct run_model;

#define FREE_RANKS_MAX                                                                             \
    64 /* programs with more ranks are not examined: time grows with the square */

/* The ranks that progress in the main group, as indexes of the log's ranks (NULL: not wanted), in
 * order of rank. Returns their number; 0 if the program is in step, or if that is not known. The
 * model must have iterations and groups.
 */
size_t free_running(const struct run_model *model, size_t log_ranks[FREE_RANKS_MAX]);

/* The iterations of a rank of the log, or NULL. */
const struct rank_iterations *free_running_iterations(const struct run_model *model,
                                                      size_t log_rank);

/* The number of iterations in the windows; one that lies partly inside counts in part. */
double free_running_done(const struct rank_iterations *iterations, struct windows windows);

#endif
