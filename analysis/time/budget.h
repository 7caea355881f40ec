/* SPDX-License-Identifier: MIT */
/*
 * The time budget of a rank: where each second of a window went. Terms exclude each other and add
 * up to the wall time; a window in which they miss it by more than 2 % is not trusted.
 *
 *   own: cpu
 *   lacking: run queue, quota, steal, disk, memory, GPU, copies to or from it: it wanted to go on,
 *     and the host held it up
 *   asleep: stopped (by a signal or a debugger), idle (slept, or waited for a lock)
 *   inside MPI: peer wait, transfer, file, overhead; unsplit: inside MPI, reason not known
 *
 * The time is that of the thread that calls MPI most and, while that thread is blocked outside MPI,
 * what the other threads do. Other computing of these is counted apart.
 *
 * Rules, each with its own test:
 *   - A call waits from its entry until the rank that it needs was there (call_match.h), at most
 *     until its end. The rest is transfer if the call moves data and lasted CALL_SHORT_NS, else
 *     overhead. A wait for another host that is shorter than the bound of the two clocks is no
 *     wait.
 *   - A send that ended before the receiver came was buffered: all of it is transfer.
 *   - A test that found nothing, and the sleep until the next test, wait for what a later test of
 *     that thread completes, if the thread hardly computed meanwhile and slept about as long as it
 *     usually does between tests (polling.h). Time after the peer's arrival within the last sleep
 *     is the delay of polling: overhead.
 *   - On the CPU outside MPI: the kernel's work for the process while memory was short (making
 *     room, reading back) is memory, the rest computing.
 *   - Off the CPU outside MPI, the kernel's counters tell why: run queue first, then disk, then
 *     steal; the rest is idle. Disk time in which pages were read back that had been in memory is
 *     short memory (rank_memory.c). Off the CPU inside MPI is a wait for a core only if the kernel
 *     saw the process wait for one, and only where no wait for a peer covers it. For a short
 *     message only the last empty poll counts; for a long one every poll, since each moves it on.
 *   - Off the CPU outside MPI for none of these reasons: stopped, if the process was seen stopped;
 *     then computing, while other threads of the process ran; then their reasons for being inside
 *     MPI. Threads that queue for a core behind threads of their own process compute, since nobody
 *     else had the core (rank_counters.c).
 *   - Inside MPI-IO, time that no late peer and no disk explains is file. Where the kernel does not
 *     count the process's own disk waits, such a call waited for a disk while its host did.
 *   - The counters of each interval tell where in a long time outside MPI the CPU time was, and
 *     where a wait was that the kernel counts at its end (rank_wait.c).
 *   - A time whose CPU use was not recorded (folded tests first, then the time between them, before
 *     the first and after the last call) gets the rest of the process's CPU time.
 *   - Where events are missing, only the counters tell: time inside MPI is then unsplit. Without
 *     those of MPI, time that is neither CPU nor a known wait is idle, or transfer while the
 *     process's connections had data to send.
 *   - Wait clocks (process_waits.h) give the terms of a process without MPI: a wait for another
 *     process to act is peer wait, a wait for room in a connection is transfer, a wait for a time
 *     that it chose is idle. They alone show waits for a GPU, in which a thread may poll on a core:
 *     its CPU time there is no computing. This holds beside MPI, too, outside of calls.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_BUDGET_H
#define CHOKEPOINT_ANALYSIS_TIME_BUDGET_H

#include <math.h>

#include "analysis/facts/calls/call_match.h"
#include "analysis/facts/series/series.h"
#include "analysis/time/process_waits.h"

#define CALL_SHORT_NS 10000    /* a call this short moved nothing over a wire */
#define BUDGET_CLOSURE_PCT 2.0 /* a sum of terms further from 100 % is not trusted */

/* In the order of display. The kind of a term follows from its class, not from its place here. */
enum budget_term {
    BUDGET_CPU,
    BUDGET_RUN_QUEUE,
    BUDGET_QUOTA,
    BUDGET_STEAL,
    BUDGET_DISK,
    BUDGET_MEMORY,
    BUDGET_GPU,
    BUDGET_GPU_COPY,
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
    double queued;               /* run queue as the kernel counts it, of all its threads */
    double quota;                /* the part of run_queue due to its group's quota */
    double steal;                /* its share of the host's steal */
    double memory;               /* memory was short on its host, and it had pages to read back */
    double mpi, mpi_cpu;         /* inside MPI, and CPU time there; used without events */
    double sending;              /* its connections had data to send; used without MPI */
    double memory_cpu;           /* the part of cpu in the kernel while memory was short */
    double memory_asleep; /* additional time for which memory was short: making room sleeps, too,
                             and is no disk wait */
    double stopped;       /* it was seen stopped */
    double longest;       /* the part of cpu of its busiest thread; 0: not known */
    double foreign;       /* the most that its threads waited for cores that other processes had */
    double io_pressure;   /* some process on its host waited for a disk */
    bool one_thread;      /* it never had another thread that could run */
    struct process_time clocks; /* from its wait clocks; zeros without them */
};

enum budget_source {
    BUDGET_FROM_EVENTS,   /* every call is known */
    BUDGET_FROM_CLOCKS,   /* for some time only wait clocks tell, and nothing of MPI */
    BUDGET_FROM_TOTALS,   /* for some time only the total inside MPI is known */
    BUDGET_FROM_COUNTERS, /* for some time nothing is known of MPI */
};

struct budget {
    double wall_s;
    double term_s[BUDGET_TERMS]; /* NAN: not observable */
    double unknown_s;            /* in no term: outside the counters' reach */
    double other_cpu_s;          /* CPU time of other threads, not part of the wall time */
    double closure_pct;          /* sum of terms in % of wall time; NAN for an empty window */
    enum budget_source source;
};

/* Seconds of the terms in a mask; terms that are not observable count as 0. */
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

/* Whether its terms, waits for peers included, are known. */
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
    const struct judge *judge; /* NULL: the usual one */
};

/* Fills budgets[i] for windows[i], counting only the life of the process. awaited (may be NULL) has
 * an element for each rank of the log: ns of windows[0] for which that rank was waited for.
 * -ENOMEM.
 */
int budget_make(const struct budget_subject *subject, const struct windows *windows,
                size_t n_windows, struct budget *ret_budgets, double *ret_awaited);

/* The thread of a rank that makes most calls, whose time the budget is. -ENOMEM. */
int budget_main_thread(const struct mpi_rank *rank, uint16_t *ret_thread);

/* A wait for one peer, in a call or in a row of polls. */
struct budget_wait {
    int64_t begin_ns, end_ns;
    int32_t who; /* index of the log's ranks */
};

/* All waits of a rank with events, in time order, disjoint; uses only its log, matches, clock and
 * life. The caller owns *ret_waits. -ENOMEM.
 */
int budget_waits(const struct budget_subject *subject, struct budget_wait **ret_waits,
                 size_t *ret_n);

/* The parts of a subject's windows in which `only` holds. */
struct budget_parts {
    struct windows only;
    size_t n_hosts;
    double **moved_s; /* by window: [from * (n_hosts + 1) + to], to which transfer between known
                         hosts is added; n_hosts means several. Elements, or all, may be NULL */
};

/* As budget_make, but counts only the part of each window within parts->only; counters are still
 * divided by all that the rank did. -ENOMEM.
 */
int budget_make_parts(const struct budget_subject *subject, const struct budget_parts *parts,
                      const struct windows *windows, size_t n_windows, struct budget *ret_budgets);

/* Shares from the counters of one interval, all 0..1, for time off the CPU and for time whose CPU
 * use is not known.
 */
struct budget_shares {
    double cpu_of_dark;         /* of time of unknown CPU use: computing */
    double queue_of_inside_off; /* of time off the CPU inside MPI: run queue */
    double queue_of_off;        /* of time off the CPU outside MPI: run queue, with quota */
    double off_of_folded;       /* of time in folded polls: off the CPU */
    double quota_of_queue;
    double disk_of_off, memory_of_off, steal_of_off; /* of time off the CPU outside MPI; the rest is
                                                        idle */
    double helped_of_off, stopped_of_off;            /* of time off the CPU outside MPI: other
                                                        threads ran; the process was stopped */
    double disk_of_io_off;                           /* of time off the CPU in file calls */
    double memory_of_cpu; /* of time on the CPU outside MPI: making room in memory */
};

/* Fills ret_shares[i] for subject->intervals[i]. -ENOMEM. */
int budget_make_shares(const struct budget_subject *subject, struct budget_shares *ret_shares);

enum budget_class budget_term_class(enum budget_term term);
/* The terms of a class, as a mask. */
unsigned budget_class_terms(enum budget_class class);
/* All terms outside MPI, as a mask. */
unsigned budget_outside_terms(void);

/* "cpu", "peer_wait", ...: the members of the JSON contract without "_s". */
const char *budget_term_name(enum budget_term term);

#endif
