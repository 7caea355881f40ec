/* SPDX-License-Identifier: MIT */
/*
 * A process's wait clocks, as terms of its budget and as waits for other processes. The clocks are
 * those of the whole process: each instant is in one of them, so that they need no division.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_PROCESS_WAITS_H
#define CHOKEPOINT_ANALYSIS_TIME_PROCESS_WAITS_H

#include "analysis/facts/recording/recording.h"

/* Series of one process: of its clocks, its connections and its pairs. Borrowed from the recording;
 * the arrays belong to it. */
struct process_waits {
    const struct recording *recording;
    const struct series **clocks, **sockets, **wakeups;
    size_t n_clocks, n_sockets, n_wakeups; /* n_clocks 0: its waits were not clocked */
    /* The part of the waits of threads there that ended a wait of the whole process, 0..1: a
     * thread that waits for a connection at rest ends none. */
    double *starved_parts, *blocked_parts, *wakeup_parts;
};

/* -ENOMEM. */
int process_waits_find(const struct recording *recording, int host, int64_t pid,
                       struct process_waits *ret_waits);
void process_waits_release(struct process_waits *waits);

/* Kinds of waits that another process ends. */
enum wait_kind {
    WAIT_KIND_MESSAGE, /* data through a socket, or an event that it polled for */
    WAIT_KIND_LOCK,
    WAIT_KIND_PIPE, /* a pipe, or a socket within the host */
    WAIT_KIND_CHILD,
    WAIT_KIND_COUNT_
};

/* ns of a process within some windows. All but `pool` add up to what was clocked. */
struct process_time {
    double run, runnable, disk, fault, stopped;
    double asleep; /* until a time of its choice, or for nobody known */
    double send;   /* until there was room in a connection */
    double peer;   /* until another process did something */
    double
        pool[WAIT_KIND_COUNT_]; /* of `peer` and `asleep`: waits of a kind, told by whom or not */
};

static inline double process_time_sum(const struct process_time *t) {
    return t->run + t->runnable + t->disk + t->fault + t->stopped + t->asleep + t->send + t->peer;
}

/* By how much a counter grew; what is not known is nothing. */
double process_waits_growth(const struct series_set *set, const struct series *series,
                            size_t column, struct windows windows);

/* ns that the process waited for a connection's data, for room in it, or for a pair's waker. */
double process_waits_starved(const struct process_waits *waits, size_t socket,
                             struct windows windows);
double process_waits_blocked(const struct process_waits *waits, size_t socket,
                             struct windows windows);
double process_waits_woken(const struct process_waits *waits, size_t wakeup,
                           struct windows windows);

/* The pair's waits were for the address of a name: of a server, or of the process that asks one. */
bool process_waits_is_name(const struct series_set *wakeups, const struct series *pair);

/* The kind of wait that a row of table wakeup tells of; -1: none, or for a name, of which no
 * process of the job is the cause. */
int process_waits_kind(const struct series_set *wakeups, const struct series *pair);

/* Time that was not clocked is shared out over the others by the agent, and no part of them here.
 */
struct process_time process_waits_in(const struct process_waits *waits, struct windows windows);

#endif
