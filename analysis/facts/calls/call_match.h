/* SPDX-License-Identifier: MIT */
/*
 * Which event of which rank each call had to wait for: sends with receives in order per
 * communicator, source, destination and tag; group calls by their order per communicator; waits and
 * tests through the requests they completed.
 *
 * No match is better than a wrong one: as soon as two sides of a channel do not fit together
 * (different sizes, a message received before it was sent, events lost), the rest of that channel
 * is left unmatched and counted. Events of one rank can spoil its own channels, and no others.
 *
 * Dependencies between calls beside messages of the program are signals: the parts
 * of a neighbourhood collective, the begin and end of epochs of windows.
 *
 * After a loss of events order counts from the end: where both sides told all to MPI_Finalize, the
 * last send is that of the last receive, and the last group call of one member that of the others,
 * back to where the loss ended. A channel that does not fit so from there on stays unmatched.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_CALLS_CALL_MATCH_H
#define CHOKEPOINT_ANALYSIS_FACTS_CALLS_CALL_MATCH_H

#include "analysis/facts/recording/mpi_event.h"

#define CALL_NO_PARTNER UINT32_MAX

/* Shorter messages may be handed over in the call that begins them. */
#define CALL_LONG_BYTES 65536

/* The events that one event needed, if they are known. */
struct call_need {
    int64_t ready_ns; /* when the other side was there; VALUE_ABSENT: not known */
    int64_t since_ns; /* of a wait or test that completed a request, the earliest start of one; of
                         a probe that found a message, long ago; else VALUE_ABSENT */
    int32_t who;      /* index of the log's ranks: whom it needed; -1 */
    uint32_t partner; /* of a message: the other side's event in that rank; of a group call: its
                         number in the log; CALL_NO_PARTNER */
    bool of_file;     /* of a wait or test: all that it completed were calls to files */
    bool asked;       /* it may have had to wait for somebody, so that not knowing is a gap */
    bool outgoing;    /* it moves data to whom it needed, not from there */
    bool mutual;      /* data move from all to all */
    bool may_leave;   /* it can end before the other side is there (a buffered send): if it did, it
                         did not wait */
};

/* One call of a rank cannot end before another one's has begun. */
struct call_signal {
    uint32_t from, sent;   /* a rank of the log, and its call */
    uint32_t to, received; /* the other, and its call, or the request that the call began */
    int64_t bytes;
};

struct call_matches {
    struct call_need **needs; /* needs[rank][event] */
    size_t n_ranks;
    uint64_t messages, unmatched_sends, unmatched_receives;
    uint64_t groups, unmatched_groups; /* calls of groups; those left unmatched (calls) */
    struct call_signal *signals;       /* by who receives them, and what by */
    size_t n_signals, signals_capacity;
    uint32_t n_group_calls; /* numbers given to them, each to all its members */
};

/* How far clocks can be off: bound_ns[host], each against the run's axis. A wait between two hosts
 * is known no better than to the sum of theirs. */
struct call_clock {
    const int64_t *bound_ns; /* NULL: exact */
    size_t n_hosts;
};

/* 0 on one host. An unknown bound (negative) gives INT64_MAX: nothing can be told. */
int64_t call_clock_bound(const struct call_clock *clock, int host_a, int host_b);

/* The log must be finished. Time and memory grow with the number of events, nothing else. -ENOMEM,
 * -E2BIG beyond 2^31 events. */
int call_match(const struct mpi_log *log, const struct call_clock *clock,
               struct call_matches *ret_matches);
void call_matches_release(struct call_matches *matches);

#endif
