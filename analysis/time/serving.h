/* SPDX-License-Identifier: MIT */
/*
 * Work of one rank for all others, one after the other: the rank that takes part in all messages
 * (a parameter server, a master), in the time right after a message from another has come to it,
 * until its next call. Its own work follows a call that brought nothing.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_SERVING_H
#define CHOKEPOINT_ANALYSIS_TIME_SERVING_H

#include "analysis/facts/calls/call_match.h"
#include "analysis/facts/iteration/iteration.h"
#include "analysis/facts/series/series.h"

struct serving {
    size_t server_rank;   /* index of the log's ranks; SIZE_MAX: no rank serves */
    struct window *items; /* in time order, disjoint; the serving's */
    size_t n;
    double computing; /* CPU time in them over their length, 0..1 */
};

/* The work of any rank for others, whether or not it is the server. -ENOMEM. */
int serving_by(const struct mpi_log *log, const struct call_matches *matches, size_t rank,
               struct serving *ret_serving);

/* The server's work. The first of two ranks is meant, by convention. -ENOMEM. */
int serving_find(const struct mpi_log *log, const struct call_matches *matches,
                 struct serving *ret_serving);
/* The same with what it does so for itself: at the end of each of its own iterations, for as long
 * as for one of the others' `n_others` in the mean. own: NULL: none. -ENOMEM. */
int serving_with_own(const struct serving *serving, const struct rank_iterations *own,
                     double n_others, struct serving *ret_serving);
void serving_release(struct serving *serving);

/* CPU seconds of it in both of two lists, each in time order and disjoint. */
double serving_within(const struct serving *serving, struct windows a, struct windows b);

#endif
