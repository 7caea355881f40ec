/* SPDX-License-Identifier: MIT */
/*
 * Claims: each source says how long a process was in a term; together they allow an interval. A
 * source states an interval of seconds: it knows the time exactly, or it knows a bound. The
 * intervals are intersected. If two of them do not meet, the sources disagree: the exact one holds,
 * and that they disagree is a finding itself.
 *
 * - counters (schedstat, exit records, delay accounting) are exact for a process of one thread.
 * They bound one of several threads: as one it computes at least as long as its busiest thread, at
 *   most as long as all of them;
 * - clocks, wait clocks that were kept all the time, are exact to a tick;
 * - slices, wait clocks that were kept in slices, are shares and never a bound for others;
 * - calls of MPI are exact in time: a rank inside a call computes nothing for itself, whatever it
 *   burns there;
 * - connections: a process sends no longer than they had data to send.
 *
 * The terms of a process add up to its time: what is known of some leaves less room for the others.
 * Counters and clocks see that a thread was ready to run;
 * only control groups tell whether it waited for a core or for its quota.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_CLAIMS_H
#define CHOKEPOINT_ANALYSIS_TIME_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/time/budget.h"

enum claim_source {
    CLAIM_COUNTERS,
    CLAIM_CLOCKS,
    CLAIM_SLICES,
    CLAIM_CALLS,
    CLAIM_CONNECTIONS,
    CLAIM_SOURCES
};

/* low_s to high_s; made: false if the source says nothing of the term. */
struct claim {
    double low_s, high_s;
    bool made;
};

struct claimed {
    struct claim by[CLAIM_SOURCES];
    double taken_s;               /* what the budget took; NAN: not observable */
    double low_s, high_s;         /* allowed by all; by the exact ones if sources disagree */
    bool disputed;                /* an exact source and another one do not meet */
    enum claim_source one, other; /* those two, the exact one first */
};

struct claims {
    double wall_s;
    struct claimed terms[BUDGET_TERMS];
};

/* The facts that claims are made of. */
struct claim_facts {
    const struct budget_interval *intervals; /* of the budget, in order */
    size_t n;
    bool sliced; /* its wait clocks were kept in slices */
    bool groups; /* control groups were recorded: they tell of a quota, if there is one */
};

/* Adds up what the sources say of a process within the windows. taken: its budget there. */
void claims_make(const struct claim_facts *facts, struct windows windows,
                 const struct budget *taken, struct claims *ret_claims);

/* Seconds that are known for sure: the most of one of the terms (a mask). */
double claims_known(const struct claims *claims, unsigned terms);
/* The seconds in which it waited for others, as far as they are known for sure: it sent or
 * received, or it did nothing that any source tells of.
 */
double claims_waited(const struct claims *claims);

/* The term, of those in a mask, about which sources disagree most, by the seconds between their
 * intervals; BUDGET_TERMS if they agree. ret_gap_s: those seconds.
 */
enum budget_term claims_worst(const struct claims *claims, unsigned terms, double *ret_gap_s);

/* "counters", "clocks", "slices", "calls", "connections" */
const char *claim_source_name(enum claim_source source);

#endif
