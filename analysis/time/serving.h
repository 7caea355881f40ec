/* SPDX-License-Identifier: MIT */
/*
 * A rank's work for all others: the rank that takes part in all messages (a parameter server, a
 * master) serves from the arrival of a message from another rank until its next call. After a call
 * that brought no message it does its own work.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_SERVING_H
#define CHOKEPOINT_ANALYSIS_TIME_SERVING_H

#include "analysis/facts/calls/call_match.h"
#include "analysis/facts/iteration/iteration.h"
#include "analysis/facts/series/series.h"

struct serving {
    size_t server_rank;   /* index in the log; SIZE_MAX: no rank serves */
    struct window *items; /* in time order, disjoint; owned */
    size_t n;
    double computing; /* CPU time in them over their length, 0..1 */
};

/* The work of any rank for others, whether it is the server or not. -ENOMEM. */
int serving_by(const struct mpi_log *log, const struct call_matches *matches, size_t rank,
               struct serving *ret_serving);

/* The server's work. By convention the first of two ranks is the server. -ENOMEM. */
int serving_find(const struct mpi_log *log, const struct call_matches *matches,
                 struct serving *ret_serving);
/* The server's work with its serving of itself: at the end of each of its own iterations, for the
 * mean time of one of the others' n_others iterations. own may be NULL. -ENOMEM.
 */
int serving_with_own(const struct serving *serving, const struct rank_iterations *own,
                     double n_others, struct serving *ret_serving);
void serving_release(struct serving *serving);

/* CPU seconds of serving within both lists of windows, each in time order and disjoint. */
double serving_within(const struct serving *serving, struct windows a, struct windows b);

#endif
