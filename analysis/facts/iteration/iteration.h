/* SPDX-License-Identifier: MIT */
/*
 * Iterations by rank (F3): from the marks of the program; else from MPI calls, which repeat; else
 * from the bytes that hosts send and receive, if they have a steady pace. Iterations that a source
 * does not show are left out, since none are better than wrong ones.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_H
#define CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_H

#include <stdbool.h>

#include "analysis/facts/recording/recording.h"

enum iteration_source {
    ITERATION_NONE,
    ITERATION_MARKER,
    ITERATION_CALLS,
    ITERATION_COUNTERS, /* one pace for all ranks; iterations begin where bytes are fewest */
};

/* "none", "marker", "calls", "counters" */
const char *iteration_source_name(enum iteration_source source);

struct iteration {
    int64_t number, end_ns, duration_ns;
};

struct rank_iterations {
    int rank, host; /* rank -1: the program has none */
    int64_t pid;
    int role; /* ranks with the same mix of operators, or of MPI calls, have the same role; from 0
               */
    size_t n; /* in time order, without those whose begin is not known */
    struct iteration *items;
};

struct iterations {
    enum iteration_source source;
    struct rank_iterations *ranks; /* by rank */
    size_t n;
    /* Iteration k of all ranks ends together. Then all take equally long, and a rank that holds up
     * others does not show in iteration times.
     */
    bool lockstep;
};

/* Uses the best source there is. -ENOMEM. */
int iterations_find(const struct recording *recording, struct iterations *ret_iterations);

/* One function for each source; n is 0 if it shows no iterations. -ENOMEM. */
int iterations_from_marks(const struct recording *recording, struct iterations *ret_iterations);
int iterations_from_calls(const struct recording *recording, struct iterations *ret_iterations);
int iterations_from_counters(const struct recording *recording, struct iterations *ret_iterations);
void iterations_release(struct iterations *iterations);

/* Fills in the durations in seconds of a rank's iterations that end inside the windows; values has
 * room for rank->n. Returns their number.
 */
size_t iteration_durations(const struct rank_iterations *rank, struct windows windows,
                           double *values);
double iteration_median(const struct rank_iterations *rank, struct windows windows);

/* The rank whose iterations stand for the run's: the first that has any, or NULL. */
const struct rank_iterations *iterations_reference(const struct iterations *iterations);

/* The roles of the log's ranks, roles[log->n], numbered from 0. Ranks have the same role if they
 * call MPI from mostly the same places, about as often and with the same part in collectives (root
 * or not). -ENOMEM.
 */
int call_roles(const struct mpi_log *log, int *roles);

#endif
