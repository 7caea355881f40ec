/* SPDX-License-Identifier: MIT */
/* Operators from the marks of the program (T8): the cost of each, and one iteration as a timeline.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_ITERATION_OPERATOR_H
#define CHOKEPOINT_ANALYSIS_FACTS_ITERATION_OPERATOR_H

#include "analysis/facts/iteration/iteration.h"

/* An operator in the ranks of one role. The time of nested operators also counts for the outer one.
 */
struct operator_use {
    const char *name; /* borrowed from the recording */
    int role;         /* role of the ranks in `iterations`; -1: they mark no iterations */
    size_t n_ranks;   /* number of ranks that ran it */
    size_t calls;
    double output_bytes; /* mean; NAN if the program does not report it */
    double total_s, p95_s, longest_s;
    /* Its time within iterations, over all time in iterations of the ranks that ran it; NAN without
     * iterations.
     */
    double share;
};

/* One run of an operator within the iteration that is shown. */
struct operator_bar {
    const struct mark *mark;
    int64_t start_ns, end_ns; /* since the command started; cut at the iteration's ends */
};

#define OPERATOR_BARS_MAX 4000

struct operators {
    struct operator_use *uses; /* by role, the one with the most time first */
    size_t n_uses;
    /* The reference rank's iteration of median length, among those with operators, and the other
     * ranks' operators in that time. Sorted by rank, then by time.
     */
    const struct rank_iterations *rank; /* NULL: none */
    const struct iteration *iteration;
    struct operator_bar *bars;
    size_t n_bars;
    size_t n_bars_left_out; /* shortest ones left out beyond OPERATOR_BARS_MAX */
};

/* The result points into the recording and the iterations. -ENOMEM. */
int operators_from_marks(const struct recording *recording, const struct iterations *iterations,
                         struct operators *ret_operators);
void operators_release(struct operators *operators);

#endif
