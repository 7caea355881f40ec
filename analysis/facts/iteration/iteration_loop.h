/* SPDX-License-Identifier: MIT */
/*
 * The loop in a sequence of signatures: the smallest lag at which nearly all of a long stretch
 * repeats. Inner loops of varying length hide it; each is collapsed to one signature, and the
 * search goes on. Additional calls every few rounds, and calls around the loop, do no harm while 95
 * % of the stretch repeats.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_LOOP_H
#define CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOOP_MATCH 0.95 /* of the stretch */
#define LOOP_REPEATS 8  /* rounds, at least */
#define LOOP_COVERS 0.4 /* of the time from the first call to the last */
#define LOOP_LONG_NS                                                                               \
    INT64_C(20000000)                 /* a shorter loop is an iteration only if it has no loop     \
                                         around it */
#define LOOP_STEP_NS INT64_C(5000000) /* or, from this length on, if all its rounds compute */

struct loop_call {
    uint64_t signature;
    int64_t enter_ns, exit_ns;
};

struct loop_calls { /* calls, or what they were collapsed to, in time order */
    struct loop_call *items;
    size_t n;
};

struct loop {
    size_t lag;        /* number of calls in a round, after collapsing; 0: no loop */
    size_t begin, end; /* the stretch of the loop, in calls after collapsing */
    double match;      /* share of the stretch that repeats */
    double period_ns;  /* time of a round */
};

/* Collapses *calls in place as needed, and finds the loop; target_ns > 0: only one with that
 * period, within a tenth. Time grows linearly with the number of calls. -ENOMEM.
 */
int loop_find(struct loop_calls *calls, double target_ns, struct loop *ret_loop);

/* The begin of a round: after a call, or a few in a row, that occur once in each round. */
struct loop_anchor {
    uint64_t hash;
    size_t length; /* number of calls; 0: no anchor */
};

/* Chooses the anchor after which the rank is outside MPI for longest: a round computes, then
 * communicates. -ENOMEM.
 */
int loop_anchor_find(const struct loop_calls *calls, const struct loop *loop,
                     struct loop_anchor *ret_anchor);

/* Fills in the ends of the anchor's occurrences in the stretch, in ns; there is room for calls->n.
 * Returns their number.
 */
size_t loop_anchor_ends(const struct loop_calls *calls, const struct loop *loop,
                        struct loop_anchor anchor, int64_t *ends);
/* Whether there are as many as rounds of the loop, within a tenth. */
bool loop_anchor_fits(const struct loop *loop, size_t n_ends);

#endif
