/* SPDX-License-Identifier: MIT */
/* Iterations from the marks of the program, by rank (F3). */
#ifndef CHOKEPOINT_ANALYSIS_ITERATION_H
#define CHOKEPOINT_ANALYSIS_ITERATION_H

#include <stdbool.h>

#include "analysis/recording.h"

struct iteration {
    int64_t number, end_ns, duration_ns;
};

struct rank_iterations {
    int rank, host; /* rank -1: the program has none */
    int64_t pid;
    int role; /* ranks with the same mix of operators play the same role; numbered from 0 */
    size_t n; /* in time order; those whose beginning is not known are left out */
    struct iteration *items;
};

struct iterations {
    struct rank_iterations *ranks; /* by rank */
    size_t n;
    /* Iteration k of all ranks ends together: then all take equally long, and a rank that holds
     * up the others cannot be seen in its iteration times. */
    bool lockstep;
};

int iterations_from_marks(const struct recording *recording, struct iterations *ret_iterations);
void iterations_release(struct iterations *iterations);

/* Durations in seconds of the iterations of a rank that end inside the windows; values has room
 * for rank->n. Returns how many. */
size_t iteration_durations(const struct rank_iterations *rank, struct windows windows,
                           double *values);
double iteration_median(const struct rank_iterations *rank, struct windows windows);

/* The rank whose iterations stand for the run's: the first that has any. NULL if none. */
const struct rank_iterations *iterations_reference(const struct iterations *iterations);

#endif
