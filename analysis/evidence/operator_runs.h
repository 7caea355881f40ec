/* SPDX-License-Identifier: MIT */
/*
 * Runs of operators that show the time of computing: marked with the size of their output, within
 * the group, and without MPI calls. An operator that calls MPI waits for other ranks, and shows
 * nothing.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_OPERATOR_RUNS_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_OPERATOR_RUNS_H

#include "analysis/facts/series/key_table.h"
#include "analysis/run_model.h"

struct timed {           /* one run of an operator */
    struct key operator; /* hash of its name, and its host */
    double byte_ns;      /* ns for each byte of output */
};

struct given { /* all runs of an operator on a host */
    double ns, bytes;
};

struct timed_runs {
    struct timed *items; /* a sample of runs, by operator and host */
    size_t n;
    struct key_table operators;
    struct given *given; /* by number of the operator on its host */
};

/* Output is summed over all runs. If there are very many, times for a byte are of a random sample,
 * which is enough for a median. -ENOMEM.
 */
int timed_runs_make(const struct run_model *model, size_t group, struct timed_runs *ret_runs);
void timed_runs_release(struct timed_runs *runs);

#endif
