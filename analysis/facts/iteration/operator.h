/* SPDX-License-Identifier: MIT */
/* Operators from the marks of the program (T8): what each costs, and one iteration as a timeline.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_ITERATION_OPERATOR_H
#define CHOKEPOINT_ANALYSIS_FACTS_ITERATION_OPERATOR_H

#include "analysis/facts/iteration/iteration.h"

/* An operator in the ranks of one role. Nested operators count each for itself. */
struct operator_use {
    const char *name; /* the recording's */
    int role;         /* of iterations.ranks; -1: ranks that mark no iterations */
    size_t n_ranks;   /* that ran it */
    size_t calls;
    double output_bytes; /* mean; NAN where the program does not say */
    double total_s, p95_s, longest_s;
    /* Time of it that lies in iterations, over all time in iterations of the ranks that ran it; NAN
     * without iterations. */
    double share;
};

/* One run of an operator during the iteration that is shown. */
struct operator_bar {
    const struct mark *mark;
    int64_t start_ns, end_ns; /* cut at the iteration's ends; since the command started */
};

#define OPERATOR_BARS_MAX 4000

struct operators {
    struct operator_use *uses; /* by role, the one with the most time first */
    size_t n_uses;
    /* The iteration of median length among those of the reference rank in which it ran operators;
     * the other ranks' operators at that time, too. By rank, then by time. */
    const struct rank_iterations *rank; /* NULL: none */
    const struct iteration *iteration;
    struct operator_bar *bars;
    size_t n_bars;
    size_t n_bars_left_out; /* beyond OPERATOR_BARS_MAX: the shortest */
};

/* Recording and iterations must outlive the result. -ENOMEM. */
int operators_from_marks(const struct recording *recording, const struct iterations *iterations,
                         struct operators *ret_operators);
void operators_release(struct operators *operators);

#endif
