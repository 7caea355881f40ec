/* SPDX-License-Identifier: MIT */
/*
 * The time budget of a rank: where each second of a window went. Terms exclude each other and add
 * up to the wall time; a window in which they do not, within 2 %, is not to be trusted.
 *
 *   own:         cpu
 *   lacking:     run queue, quota, steal, disk, memory: it wanted to go on, and the host held it up
 *   asleep:      stopped (by a signal or a debugger), idle (slept, or waited for a lock)
 *   inside MPI:  peer wait, transfer, file, overhead; unsplit: known to be inside, not known why
 *
 * Time is that of all threads of a process: that of the thread which calls MPI most, and while that
 * one is blocked outside MPI, what the others do. Their other computing is counted apart.
 *
 * Rules, each with a test of its own:
 *   - A call waits from its entry until the rank that it needs was there (call_match.h), at most
 *     for its stay. The rest is transfer if the call moves data and lasted CALL_SHORT_NS, else
 *     overhead. A wait for another host that is shorter than the bound of the two clocks is no
 *     wait.
 *   - A send that ended before the receiver came was buffered: all of it is transfer.
 *   - A test that found nothing, and the sleep until the next test, wait for what a later test of
 *     that thread completes, if the thread hardly computed meanwhile and slept about as long as it
 *     usually does between tests (polling.h). Time after the peer's arrival within the last sleep
 *     is the delay of polling: overhead.
 *   - On the CPU outside MPI: what the kernel did for the process while memory was short (making
 *     room, reading back) is memory, the rest computing.
 *   - Off the CPU outside MPI, the kernel's counters tell why: run queue first, then disk, steal;
 *     the rest is idle. The part of the disk's time in which pages were read back that had been in
 *     memory is short memory (rank_counters.c). Off the CPU inside MPI counts as waiting for a core
 *     only as far as the kernel saw the process wait for one, and the wait for a peer does not
 *     cover it. For a short message only the last empty poll counts; for a long one, which each
 *     poll moves on, every poll.
 *   - Off the CPU outside MPI for none of these reasons: stopped, as far as it was seen so. Then
 *     computing, as far as other threads of the process ran; then what they were inside MPI for.
 *     Threads that queue for a core behind others of their own process compute: as far as that
 *     goes, nobody else had the core (rank_counters.c).
 *   - Inside MPI-IO what no late peer and no disk explains is file. Where the kernel does not count
 *     the process's own waits for disks, such a call waited for one while its host did.
 *   - When within a long time outside MPI its CPU time was, and where a wait was that the kernel
 *     counts when it ends (rank_wait.c), follows from the counters of each interval.
 *   - A time whose CPU use the recording side did not measure (folded tests first, then the time
 *     between them, before the first and after the last call) gets what is left of the process's
 *     CPU time.
 *   - Where events are missing, the counters alone speak: inside MPI is then unsplit; without
 *     these, too, what is neither CPU nor known waiting is idle, or transfer as far as the
 *     process's connections had data to send.
 *   - Wait clocks (process_waits.h) tell the time of a process without MPI as its terms are: until
 *     another process does something is a wait for a peer, until a connection has room is transfer,
 *     until a time of its choice is idle.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_BUDGET_H
#define CHOKEPOINT_ANALYSIS_TIME_BUDGET_H

#include <math.h>

#include "analysis/facts/calls/call_match.h"
#include "analysis/facts/series/series.h"
#include "analysis/time/process_waits.h"

#define CALL_SHORT_NS 10000    /* a call as short as this moved nothing over a wire */
#define BUDGET_CLOSURE_PCT 2.0 /* further from 100 than this: not to be trusted */

/* In the order in which they are shown. The kind of a term follows from its class, not from its
 * place.
 */
enum budget_term {
    BUDGET_CPU,
    BUDGET_RUN_QUEUE,
    BUDGET_QUOTA,
    BUDGET_STEAL,
    BUDGET_DISK,
    BUDGET_MEMORY,
    BUDGET_STOPPED,
    BUDGET_IDLE,
    BUDGET_PEER_WAIT,
    BUDGET_TRANSFER,
    BUDGET_FILE,
    BUDGET_OVERHEAD,
    BUDGET_UNSPLIT,
    BUDGET_TERMS
};

enum budget_class { BUDGET_CLASS_OWN, BUDGET_CLASS_LACKING, BUDGET_CLASS_ASLEEP, BUDGET_CLASS_MPI };

/* Counters of one process between two samples, in ns; NAN where not known. */
struct budget_interval {
    int64_t begin_ns, end_ns;
    double cpu, run_queue, disk; /* of all its threads */
    double quota;                /* of run_queue: because its group had used up its share of CPU */
    double steal;                /* its part of what the hypervisor took */
    double memory; /* time in which memory was short on its host, and it had pages to read back */
    double mpi, mpi_cpu;  /* inside MPI, and the CPU time there; for times without events */
    double sending;       /* its connections had data to send; for times without MPI */
    double memory_cpu;    /* of cpu: in the kernel while memory was short */
    double memory_asleep; /* it was short for so much longer: making room sleeps, too, and that is
                             no wait for a disk */
    double stopped;       /* it was seen stopped */
    double longest;       /* of cpu: of the thread that had most; 0: not known */
    double foreign;       /* its threads cannot have waited for longer than this for a core that was
                             another process's */
    double io_pressure;   /* somebody on its host waited for a disk */
    bool one_thread;      /* never more than that: nothing else of it can run */
    struct process_time clocks; /* by its wait clocks; nothing without them */
};

enum budget_source {
    BUDGET_FROM_EVENTS,   /* every call is known */
    BUDGET_FROM_CLOCKS,   /* for some of the time its wait clocks tell, and no MPI is known */
    BUDGET_FROM_TOTALS,   /* for some of the time only how long it was inside MPI */
    BUDGET_FROM_COUNTERS, /* for some of the time nothing is known of MPI */
};

struct budget {
    double wall_s;
    double term_s[BUDGET_TERMS]; /* NAN: cannot be seen */
    double unknown_s;            /* in no term: the counters do not reach there */
    double other_cpu_s;          /* CPU time of other threads, not part of the wall time */
    double closure_pct;          /* terms against wall; NAN for an empty window */
    enum budget_source source;
};

/* Seconds of the terms (a bit each); what cannot be seen counts as nothing. */
static inline double budget_sum(const struct budget *budget, unsigned terms) {
    double sum = 0;
    for (int term = 0; term < BUDGET_TERMS; term++)
        if (terms >> term & 1 && !isnan(budget->term_s[term]))
            sum += budget->term_s[term];
    return sum;
}

static inline bool budget_closes(const struct budget *budget) {
    return budget->closure_pct >= 100 - BUDGET_CLOSURE_PCT &&
           budget->closure_pct <= 100 + BUDGET_CLOSURE_PCT;
}

/* Its terms are known, waits for peers too. */
static inline bool budget_is_told(const struct budget *budget) {
    return budget->source <= BUDGET_FROM_CLOCKS;
}

struct budget_subject {
    int64_t begin_ns, end_ns;                /* the life of the process within the run */
    const struct budget_interval *intervals; /* in order, disjoint */
    size_t n_intervals;
    const struct mpi_log *log; /* NULL: no events */
    const struct call_matches *matches;
    size_t log_rank;
    const struct call_clock *clock;
};

/* budgets[i] of windows[i], in which only the life of the process counts. awaited (may be NULL): an
 * element for each rank of the log: ns of windows[0] that it was waited for. -ENOMEM. */
int budget_make(const struct budget_subject *subject, const struct windows *windows,
                size_t n_windows, struct budget *ret_budgets, double *ret_awaited);

/* The thread of a rank that makes most calls: whose time it is. -ENOMEM. */
int budget_main_thread(const struct mpi_rank *rank, uint16_t *ret_thread);

/* A wait for one peer: of a call, or of a stretch of polling. */
struct budget_wait {
    int64_t begin_ns, end_ns;
    int32_t who; /* index of the log's ranks */
};

/* All waits of a rank with events, in time order, disjoint; only its log, matches, clock and life
 * are needed. *ret_waits is the caller's. -ENOMEM. */
int budget_waits(const struct budget_subject *subject, struct budget_wait **ret_waits,
                 size_t *ret_n);

/* The parts of a subject's windows in which `only` holds. */
struct budget_parts {
    struct windows only;
    size_t n_hosts;
    double **moved_s; /* by window: [from * (n_hosts + 1) + to], added to: transfer as far as known
                         between whom, n_hosts: several. NULL elements, or NULL: not wanted */
};

/* As budget_make, but of each window only the part within parts->only; counters are still divided
 * by all that the rank did. -ENOMEM. */
int budget_make_parts(const struct budget_subject *subject, const struct budget_parts *parts,
                      const struct windows *windows, size_t n_windows, struct budget *ret_budgets);

/* Shares by the counters of one interval, for time without CPU, and for time whose use of CPU is
 * not known: all 0..1. */
struct budget_shares {
    double cpu_of_dark;         /* of time of unknown use: computing */
    double queue_of_inside_off; /* of the time off the CPU inside MPI: run queue */
    double queue_of_off;        /* of the time off the CPU outside: run queue, with quota */
    double off_of_folded;       /* of the time in polls that were folded: off the CPU */
    double quota_of_queue;
    double disk_of_off, memory_of_off, steal_of_off; /* the rest is idle */
    double helped_of_off, stopped_of_off;            /* likewise: other threads ran; stopped */
    double disk_of_io_off;                           /* of the time off the CPU in calls to files */
    double memory_of_cpu; /* of the time on the CPU outside MPI: making room in memory */
};

/* ret_shares[i] of subject->intervals[i]. -ENOMEM. */
int budget_make_shares(const struct budget_subject *subject, struct budget_shares *ret_shares);

enum budget_class budget_term_class(enum budget_term term);
/* The terms of a class: a bit each. */
unsigned budget_class_terms(enum budget_class class);
/* All terms that are no time inside MPI. */
unsigned budget_outside_terms(void);

/* "cpu", "peer_wait", ...: as the members of the JSON contract, without "_s". */
const char *budget_term_name(enum budget_term term);

#endif
