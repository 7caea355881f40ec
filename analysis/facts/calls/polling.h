/* SPDX-License-Identifier: MIT */
/*
 * Waiting by polling: tests that find nothing, and back-offs between them. A rank polls for the
 * request that a later test or wait completes.
 *
 * A pause between two polls is a back-off only if it is about as long as that rank's back-offs
 * usually are, or as the one before it (back-offs may grow): a program that sleeps, reads a file or
 * loses its core between two polls polls no later because of the message, so all of such a pause is
 * its own time, whoever had sent meanwhile. So is one in which it computed for a while.
 *
 * The end of a back-off that took longer than the one before may be waiting for a core: the timer
 * had run out, and somebody else had the core. That one does not count where it was much longer
 * than the one before it, and than the rank's shortest: it ended late itself.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_CALLS_POLLING_H
#define CHOKEPOINT_ANALYSIS_FACTS_CALLS_POLLING_H

#include "analysis/facts/calls/call_match.h"
#include "analysis/facts/series/series.h"

#define POLL_CPU_MAX 0.25     /* of the time between two tests */
#define BACKOFF_TIMES_MAX 4.0 /* the lower quartile of the pauses, or the back-off before */
#define BACKOFF_LONG_NS 2e6   /* shorter is no matter */

struct polling {
    const struct mpi_log *log;
    const struct mpi_rank *rank;
    const struct call_need *needs;
    uint32_t *completion; /* of each event: the next call from there on that completed a request */
    bool *backed_off;     /* before each event */
    bool *passing;        /* each event: a poll in passing */
    double *late_ns; /* of that back-off, what it took beyond the shortest and the one before */
};

/* Polling of one thread of a rank of the log, with that rank's needs. -ENOMEM. */
int polling_init(const struct mpi_log *log, size_t log_rank, const struct call_need *needs,
                 uint16_t thread, struct polling *ret_polling);
void polling_release(struct polling *polling);

/* Whether the event is a poll, or a series of them, that completed nothing. */
bool polling_found_nothing(const struct polling *polling, size_t event);

/* Whether it is a poll by a rank that computed before it, and, where it found nothing, went on with
 * that: it waits for nobody, and what it was off its core meanwhile it would have computed. */
bool polling_in_passing(const struct polling *polling, size_t event);

/* The call that is polled for at this time, at that event or before it: the next call that
 * completed something begun before. NULL: nothing known. */
const struct call_need *polling_for(const struct polling *polling, size_t event, int64_t at_ns);

/* Whether between the thread's call before this one, a poll that found nothing, and this one, the
 * next poll, it backed off. */
bool polling_backed_off(const struct polling *polling, size_t event);

/* Time of that back-off beyond the shortest and the one before it; 0: no back-off. */
double polling_late_ns(const struct polling *polling, size_t event);

#endif
