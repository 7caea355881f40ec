/* SPDX-License-Identifier: MIT */
/* Evidence from wait clocks: how long other processes waited for a process, and its threads for
 * each other.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_AWAITED_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_AWAITED_H

#include "analysis/run_model.h"

/* How long a process waited for process `who` (index of the budgets), as a share of its time in the
 * main group: that of the process that waited longest; 0 if none waited.
 */
double awaited_share(const struct run_model *model, size_t who);

/* Selects pairs of processes. All zeros would select none, so start with AWAITED_ANY. */
struct awaited_filter {
    size_t whom;      /* the awaited process; SIZE_MAX: any */
    int host;         /* host of the awaited process; -1: any */
    unsigned kinds;   /* a mask of enum wait_kind */
    bool by_beginner; /* only pairs whose waiting process begins chains: no helper of a rank */
};
#define AWAITED_ANY ((struct awaited_filter){.whom = SIZE_MAX, .host = -1, .kinds = ~0u})

/* The selected pair with the longest wait, or NULL. */
const struct process_wait *awaited_longest(const struct run_model *model,
                                           struct awaited_filter filter);

/* Requests that one process passes on to another over fewer connections than it receives them on.
 */
struct awaited_pool {
    size_t asked, through; /* numbers of connections: from processes that wait for it, 0 if none was
                              seen; to the other process */
    double occupied;       /* share of time in which each of the latter has a request under way */
};

/* The pool of process `who` towards process `whom` (indexes of the budgets) in the main group.
 * False if it does not pass requests on.
 */
bool awaited_pool_find(const struct run_model *model, size_t who, size_t whom,
                       struct awaited_pool *ret_pool);

/* The part of a process's idle time that its clocks call a sleep until a time of its choice, 0..1.
 * For the rest only the end of a poll or of a wait for a lock is unknown: an event loop that sleeps
 * looks like one to which nothing comes.
 */
double awaited_timer_part(const struct run_model *model, size_t who, size_t group);

/* The share of time in which process `who` certainly held others up while it did nothing: as long
 * as they waited for it beyond the time in which it was busy.
 */
double awaited_while_idle(const struct run_model *model, size_t who, size_t group);

/* The part of a process's idle time in which it waited for name resolution, 0..1. */
double awaited_names_part(const struct run_model *model, size_t who, size_t group);

/* Waits of a process's threads for each other in a group. A thread that sleeps or
 * computes with a lock in its hands releases it afterwards, and another thread goes on then.
 * Threads of a pool that idle wait, too, but are woken for another reason.
 */
struct awaited_lock {
    double waited_s; /* in sum, until another thread of the process ended the wait */
    bool asleep;     /* handed over once for each sleep of the process */
    bool computing;  /* handed over once for each time that a thread computed */
};
/* -ENOMEM. */
int awaited_lock_find(const struct run_model *model, size_t who, size_t group,
                      struct awaited_lock *ret_lock);

#endif
