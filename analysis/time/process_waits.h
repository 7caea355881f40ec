/* SPDX-License-Identifier: MIT */
/*
 * A process's wait clocks, as terms of its budget and as waits for other processes. The clocks are
 * those of the whole process: each instant is in exactly one of them. A wait that its own threads
 * ended is a hand-over inside the process: the process waited for what its other threads did.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_PROCESS_WAITS_H
#define CHOKEPOINT_ANALYSIS_TIME_PROCESS_WAITS_H

#include "analysis/facts/recording/recording.h"

/* The series of one process: its clocks, its connections and its pairs. The series belong to the
 * recording, the arrays to this struct.
 */
struct process_waits {
    const struct recording *recording;
    const struct series **clocks, **sockets, **wakeups, **connections;
    size_t n_clocks, n_sockets, n_wakeups,
        n_connections; /* n_clocks 0: its waits were not clocked */
    /* The part of each thread's waits that held up the whole process, 0..1: a thread that waits for
     * an idle connection holds up nothing.
     */
    double *starved_parts, *blocked_parts, *wakeup_parts;
    /* Exact counters, which clocks in slices are fit to; NULL: the clocks are whole. */
    const struct series *counted; /* of table process */
    double cores;                 /* on which its threads ran at once, at most */
};

/* -ENOMEM. */
int process_waits_find(const struct recording *recording, int host, int64_t pid,
                       struct process_waits *ret_waits);
void process_waits_release(struct process_waits *waits);

/* Kinds of waits that another process ends. */
enum wait_kind {
    WAIT_KIND_MESSAGE, /* data from a socket, or an event that it polled for */
    WAIT_KIND_LOCK,
    WAIT_KIND_PIPE, /* a pipe, or a socket within the host */
    WAIT_KIND_CHILD,
    WAIT_KIND_COUNT_
};

/* ns of a process within some windows. All but `pool` add up to the clocked time. */
struct process_time {
    double run, runnable, disk, fault, stopped;
    double gpu, gpu_copy;          /* until a GPU, or a copy to or from it, was done */
    double asleep;                 /* until a time that it chose, or for an unknown process */
    double send;                   /* until a connection had room */
    double polled_room;            /* of `send`: polled for it */
    double peer;                   /* until another process acted */
    double pool[WAIT_KIND_COUNT_]; /* the waits of a kind within `peer` and `asleep`, whether or not
                                      the peer is known */
    double told_run;               /* `run` by the clocks alone */
};

static inline double process_time_sum(const struct process_time *t) {
    return t->run + t->runnable + t->disk + t->fault + t->stopped + t->gpu + t->gpu_copy +
           t->asleep + t->send + t->peer;
}

/* The growth of a counter; 0 if it is not known. */
double process_waits_growth(const struct series_set *set, const struct series *series,
                            size_t column, struct windows windows);

/* The growth of a column of table wait, of the process's clocks. */
double process_waits_clock(const struct process_waits *waits, size_t column,
                           struct windows windows);

/* ns for which the process waited for a connection's data, for room in it, or for the waker of a
 * pair.
 */
double process_waits_starved(const struct process_waits *waits, size_t socket,
                             struct windows windows);
double process_waits_blocked(const struct process_waits *waits, size_t socket,
                             struct windows windows);
/* ns for which data of the process lay in a connection that could not be sent yet. */
double process_waits_queued(const struct process_waits *waits, size_t connection,
                            struct windows windows);
double process_waits_woken(const struct process_waits *waits, size_t wakeup,
                           struct windows windows);

/* Whether the pair's waits were for the resolution of a name: by a name server, or by a process
 * that asks one.
 */
bool process_waits_is_name(const struct series_set *wakeups, const struct series *pair);

/* Whether the pair's waits were ended by threads of the same process. */
bool process_waits_is_own(const struct series_set *wakeups, const struct series *pair);

/* The kind of wait of a row of table wakeup; -1: none, a hand-over inside a process, or a wait for
 * a name, which no process of the job causes.
 */
int process_waits_kind(const struct series_set *wakeups, const struct series *pair);

/* The agent has already shared out time that was not clocked over the other clocks; it is no part
 * of them here. Such clocks never stand against exact counters (clock_fit.c).
 */
struct process_time process_waits_in(const struct process_waits *waits, struct windows windows);

/* Sets up, and makes, the fit of clocks in slices to the kernel's CPU counters. */
void clock_fit_find(int host, int64_t pid, struct process_waits *waits);
struct process_time clock_fit(const struct process_waits *waits, struct windows windows,
                              struct process_time time);
/* As process_waits_in, by the clocks alone. */
struct process_time process_waits_told(const struct process_waits *waits, struct windows windows);

#endif
