/* SPDX-License-Identifier: MIT */
/*
 * Runs of operators that say what computing takes: marked with the size of what they give, within
 * the group, and with no call of MPI in them. An operator that calls MPI waits for others in it and
 * tells nothing.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_OPERATOR_RUNS_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_OPERATOR_RUNS_H

#include "analysis/facts/series/key_table.h"
#include "analysis/run_model.h"

struct timed {           /* one run of an operator */
    struct key operator; /* its name's hash, then the host */
    double byte_ns;      /* ns a byte */
};

struct given { /* by all runs of an operator on a host */
    double ns, bytes;
};

struct timed_runs {
    struct timed *items; /* drawn ones, by operator and host */
    size_t n;
    struct key_table operators;
    struct given *given; /* by the number of the operator on its host */
};

/* The output is the sum of all runs; the times for a byte are of drawn ones where there are very
 * many: a median is no better for more. -ENOMEM. */
int timed_runs_make(const struct run_model *model, size_t group, struct timed_runs *ret_runs);
void timed_runs_release(struct timed_runs *runs);

#endif
