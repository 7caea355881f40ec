/* SPDX-License-Identifier: MIT */
/*
 * Finds which event of which rank each call had to wait for: receives are matched with sends in
 * order per communicator, source, destination and tag; group calls by their order per communicator;
 * waits and tests through the requests that they completed.
 *
 * No match is better than a wrong one: when the two sides of a channel do not fit together
 * (different sizes, a message received before it was sent, lost events), the rest of that channel
 * is left unmatched and counted. Events of one rank can spoil its own channels, and no others.
 *
 * Dependencies between calls that are no messages of the program are signals: the parts of a
 * neighbourhood collective, the begin and end of window epochs.
 *
 * After a loss of events, order counts from the end. If both sides recorded all calls up to
 * MPI_Finalize, the last send belongs to the last receive, and the last group call of one member to
 * that of the others, back to where the loss ended. A channel that does not fit in this order stays
 * unmatched.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_CALLS_CALL_MATCH_H
#define CHOKEPOINT_ANALYSIS_FACTS_CALLS_CALL_MATCH_H

#include "analysis/facts/recording/mpi_event.h"

#define CALL_NO_PARTNER UINT32_MAX

/* A shorter message may leave within the call that begins it. */
#define CALL_LONG_BYTES 65536

/* The events that one event needed, if known. */
struct call_need {
    int64_t ready_ns;  /* when the other side was there; VALUE_ABSENT: not known */
    int64_t since_ns;  /* for a wait or test that completed requests: the earliest start of one; for
                          a probe that found a message: a time before all; else VALUE_ABSENT */
    uint32_t partner;  /* for a message: the other side's event in that rank; for a group call: its
                          number in the log; else CALL_NO_PARTNER */
    int32_t who : 24;  /* index in the log of the rank that it needed; -1: none */
    bool of_file : 1;  /* for a wait or test: it completed only file calls */
    bool asked : 1;    /* it may have waited, so an unknown rank counts as unmatched */
    bool outgoing : 1; /* data move to the rank that it needed, not from there */
    bool mutual : 1;   /* data move between all members */
    bool may_leave : 1; /* the call may end before the other side comes (a buffered send); if it
                         did, it did not wait */
};

/* A dependency: a call of one rank cannot end before a call of another has begun. */
struct call_signal {
    uint32_t from, sent;   /* index of a rank, and of its call */
    uint32_t to, received; /* the other rank, and its call, or the request that the call began */
    int64_t bytes;
};

struct call_matches {
    struct call_need **needs; /* needs[rank][event] */
    size_t n_ranks;
    uint64_t messages, unmatched_sends, unmatched_receives;
    uint64_t groups, unmatched_groups; /* numbers of group calls; of unmatched ones */
    struct call_signal *signals;       /* sorted by receiving rank and call */
    size_t n_signals, signals_capacity;
    uint32_t n_group_calls; /* numbers given to group calls, each shared by all members */
};

/* The error of clocks: bound_ns[host], against the run's axis. The error of a wait between two
 * hosts is the sum of theirs.
 */
struct call_clock {
    const int64_t *bound_ns; /* NULL: exact */
    size_t n_hosts;
};

/* 0 on one host. If a bound is not known (negative), INT64_MAX. */
int64_t call_clock_bound(const struct call_clock *clock, int host_a, int host_b);

/* The log must be finished. Time and memory grow linearly with the number of events. -ENOMEM,
 * -E2BIG beyond 2^31 events.
 */
int call_match(const struct mpi_log *log, const struct call_clock *clock,
               struct call_matches *ret_matches);
void call_matches_release(struct call_matches *matches);

#endif
