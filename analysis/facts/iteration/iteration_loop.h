/* SPDX-License-Identifier: MIT */
/*
 * The loop in a sequence of signatures: the smallest lag at which nearly all of a long stretch
 * repeats. Inner loops of varying length hide it; these are collapsed to one signature each, and
 * the search goes on. Extras every so many rounds and what surrounds the loop do no harm as long as
 * 95 % of it repeats.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_LOOP_H
#define CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOOP_MATCH 0.95 /* of the stretch */
#define LOOP_REPEATS 8  /* at least */
#define LOOP_COVERS 0.4 /* of the time from the first call to the last */
#define LOOP_LONG_NS                                                                               \
    INT64_C(20000000)                 /* a shorter loop is an iteration only if none surrounds it */
#define LOOP_STEP_NS INT64_C(5000000) /* or, from here on, if each of its rounds computes */

struct loop_call {
    uint64_t signature;
    int64_t enter_ns, exit_ns;
};

struct loop_calls { /* calls, or what they were collapsed to, in time order */
    struct loop_call *items;
    size_t n;
};

struct loop {
    size_t lag;        /* in calls after collapsing; 0: no loop */
    size_t begin, end; /* the stretch, in calls after collapsing */
    double match;      /* share of it that repeats */
    double period_ns;  /* of a lag */
};

/* Collapses *calls in place as far as need be, and finds the loop; target_ns > 0: only one of that
 * length, to a tenth. Time grows with the number of calls alone. -ENOMEM. */
int loop_find(struct loop_calls *calls, double target_ns, struct loop *ret_loop);

/* Where a round begins: after a call, or a few in a row, that occur once in each. */
struct loop_anchor {
    uint64_t hash;
    size_t length; /* calls; 0: none */
};

/* That after which the rank is outside MPI for longest: a round is computing, then communicating.
 * -ENOMEM. */
int loop_anchor_find(const struct loop_calls *calls, const struct loop *loop,
                     struct loop_anchor *ret_anchor);

/* Ends of the anchor's occurrences in the stretch, in ns; room for calls->n. Returns how many. */
size_t loop_anchor_ends(const struct loop_calls *calls, const struct loop *loop,
                        struct loop_anchor anchor, int64_t *ends);
/* As often as the loop goes round, to a tenth? */
bool loop_anchor_fits(const struct loop *loop, size_t n_ends);

#endif
