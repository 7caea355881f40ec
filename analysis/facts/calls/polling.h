/* SPDX-License-Identifier: MIT */
/*
 * Waiting by polling: tests that find nothing, and back-offs between them. A rank polls for the
 * request that a later test or wait completes.
 *
 * A pause between two polls is a back-off only if it is about as long as that rank's usual
 * back-off, or as the one before (back-offs may grow). A program that sleeps, reads a file or loses
 * its core between two polls does not do so because of the message, so such a pause is its own
 * time, even if a peer had sent meanwhile. The same holds for a pause in which it computed for a
 * while.
 *
 * The excess of a back-off over the one before may be a wait for a core: the timer had run out, but
 * another process had the core. The one before is no measure if it was itself much longer than its
 * predecessor and than the rank's shortest: it ended late, too.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_CALLS_POLLING_H
#define CHOKEPOINT_ANALYSIS_FACTS_CALLS_POLLING_H

#include "analysis/facts/calls/call_match.h"
#include "analysis/facts/series/series.h"

#define POLL_CPU_MAX 0.25     /* of the time between two tests, in a back-off */
#define BACKOFF_TIMES_MAX 4.0 /* the lower quartile of the pauses, or the back-off before */
#define BACKOFF_LONG_NS 2e6   /* shorter back-offs are never late */

struct polling {
    const struct judge *judge; /* NULL: the usual one */
    const struct mpi_log *log;
    const struct mpi_rank *rank;
    const struct call_need *needs;
    /* NULL if no test of the thread found nothing: then there is nothing to tell */
    uint32_t *completion; /* by event: the next call, from it on, that completed a request */
    bool *backed_off;     /* by event: the rank backed off before it */
    bool *passing;        /* by event: a poll in passing */
    double *late_ns; /* by event: time of its back-off beyond the shortest and the one before */
};

/* Analyses the polling of one thread of a rank, given that rank's needs. -ENOMEM. */
int polling_init(const struct mpi_log *log, size_t log_rank, const struct call_need *needs,
                 uint16_t thread, const struct judge *judge, struct polling *ret_polling);
void polling_release(struct polling *polling);

/* Whether the event is a poll, or a folded row of polls, that completed nothing. */
bool polling_found_nothing(const struct polling *polling, size_t event);

/* Whether it is a poll in passing: the rank computed before it and, if it found nothing, after it.
 * Such a poll waits for nobody, and time off the core during it is taken from computing.
 */
bool polling_in_passing(const struct polling *polling, size_t event);

/* The call that is polled for at this time, at that event or before it: the next call that
 * completed something begun before. NULL if not known.
 */
const struct call_need *polling_for(const struct polling *polling, size_t event, int64_t at_ns);

/* Whether the rank backed off between the thread's previous call, an empty poll, and this one, the
 * next poll.
 */
bool polling_backed_off(const struct polling *polling, size_t event);

/* The time of that back-off beyond the shortest and the one before it; 0 if there was none. */
double polling_late_ns(const struct polling *polling, size_t event);

#endif
