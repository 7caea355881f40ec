/* SPDX-License-Identifier: MIT */
/* Observations of wait clocks: how long others waited for a process, and its threads for each
 * other. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_AWAITED_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_AWAITED_H

#include "analysis/run_model.h"

/* The share of its time in the main group that a process waited for process `who` (a number of the
 * budgets), of the one that waited longest; 0: nobody waited for it. */
double awaited_share(const struct run_model *model, size_t who);

/* Which pairs of processes are looked at; all zero would be none, so see AWAITED_ANY. */
struct awaited_filter {
    size_t whom;      /* SIZE_MAX: anybody */
    int host;         /* of whom; -1: any */
    unsigned kinds;   /* bits of enum wait_kind */
    bool by_beginner; /* whoever waits begins chains: it is no helper of a rank */
};
#define AWAITED_ANY ((struct awaited_filter){.whom = SIZE_MAX, .host = -1, .kinds = ~0u})

/* The pair whose first waited longest for its second; NULL: none did. */
const struct process_wait *awaited_longest(const struct run_model *model,
                                           struct awaited_filter filter);

/* Requests that one process hands on to another over fewer connections than it is asked over. */
struct awaited_pool {
    size_t asked, through; /* connections: of processes that wait for it, and to the other */
    double occupied;       /* of the time a request is under way on each of the latter */
};

/* The pool of process `who` towards process `whom` (numbers of the budgets) in the main group.
 * False: it does not hand on what it is asked. */
bool awaited_pool_find(const struct run_model *model, size_t who, size_t whom,
                       struct awaited_pool *ret_pool);

/* The part of the time that a process did nothing in which it waited for addresses of names, 0..1.
 */
double awaited_names_part(const struct run_model *model, size_t who, size_t group);

/* Seconds that threads of a process waited in sum for locks that others of its threads left. */
double awaited_lock_s(const struct run_model *model, size_t who, size_t group);

#endif
