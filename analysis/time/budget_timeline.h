/* SPDX-License-Identifier: MIT */
/* State and functions shared by the pass over the calls of a rank's main thread. */
#ifndef CHOKEPOINT_ANALYSIS_TIME_BUDGET_TIMELINE_H
#define CHOKEPOINT_ANALYSIS_TIME_BUDGET_TIMELINE_H

#include "analysis/facts/calls/polling.h"
#include "analysis/time/budget_private.h"

/* A call of another thread than the main one. */
struct other_call {
    int64_t begin_ns, end_ns;
    size_t event;
};

struct timeline {
    const struct budget_subject *subject;
    const struct mpi_rank *rank;
    const struct call_need *needs;
    struct cells *cells;
    struct windows awaited_in;
    double *awaited;
    struct polling polling;
    uint16_t thread;
    int64_t until_ns;
    int64_t poll_begin_ns;     /* when the present polling began; VALUE_ABSENT: not polling */
    struct budget_wait *waits; /* the array grows; only with keep_waits */
    size_t n_waits, waits_capacity;
    bool keep_waits;
    int error;
    size_t interval;           /* the first interval of counters that may still matter */
    struct other_call *others; /* calls of other threads, in order, disjoint */
    size_t n_others, other;    /* index of the first that may still matter */
};

/* ---- amounts (budget_cells.c) ---- */

/* Spreads an amount, in ns, evenly over [begin, end). */
void timeline_put(struct cells *cells, int64_t begin, int64_t end, enum raw raw, double amount);
/* Spreads a transfer, `rate` per ns, and adds it to its two hosts. */
void timeline_put_moved(struct timeline *t, const struct call_need *need, int64_t begin,
                        int64_t end, double per_ns);
/* Puts a wait for that rank (below 0: not known which), `rate` per ns. Without memory: t->error. */
void timeline_put_awaited(struct timeline *t, int32_t who, int64_t begin, int64_t end,
                          double per_ns);
/* When the wait since since_ns, of which [begin, end) is a part, ended because the awaited rank had
 * come.
 */
int64_t timeline_wait_end(const struct timeline *t, const struct call_need *need, int64_t since_ns,
                          int64_t begin, int64_t end);
int64_t timeline_clip(int64_t value, int64_t low, int64_t high);

/* The raw amount for the part of a call that no wait for a peer covers. */
enum raw timeline_rest_of(const struct mpi_function *f, const struct call_need *need,
                          int64_t length);

/* ---- other threads (budget_others.c) ---- */

/* Collects the calls of other threads. -ENOMEM. */
int timeline_find_others(struct timeline *t);
/* Puts what other threads did in MPI while the main thread was outside. */
void timeline_put_others(struct timeline *t, int64_t begin, int64_t end);

/* ---- polls (budget_polls.c) ---- */

/* Where waits, transfers and time that may be either go. */
extern const enum raw timeline_plainly[3];

/* Whether the event is a call of the main thread. */
bool timeline_has(const struct timeline *t, const struct mpi_event *e);
/* Puts `amount` of a row of polls before an event; last_backoff: the poll after it found something.
 */
void timeline_put_poll(struct timeline *t, size_t event, int64_t begin, int64_t end, double amount,
                       const enum raw into[3], bool last_backoff);
/* Puts the back-off before an event. */
void timeline_put_backoff(struct timeline *t, size_t event, int64_t begin, int64_t end);
/* Puts an event that found nothing: one of a row of polls, or a single poll. */
void timeline_put_tests(struct timeline *t, size_t event, int64_t begin, int64_t end);
void timeline_put_passing(struct timeline *t, size_t event, int64_t begin, int64_t end);

#endif
