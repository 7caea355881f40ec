/* SPDX-License-Identifier: MIT */
/*
 * Tells for whom a process of the job waits, by its connections and by pairs of processes: the
 * connection that data came through leads to the process at its other end, on whatever host.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_WAIT_PEERS_H
#define CHOKEPOINT_ANALYSIS_TIME_WAIT_PEERS_H

#include "analysis/time/process_waits.h"

struct wait_member { /* a process of the job */
    int host;
    int64_t pid;
    struct process_waits waits; /* owned */
};

/* The processes at the other ends, as indexes of members; SIZE_MAX: no member. */
struct wait_peers {
    size_t *sockets, *wakeups; /* by the member's sockets and pairs */
    const struct series **far; /* by its sockets: the wait clocks of the other end, or NULL */
    const struct series *
        *sent; /* by its sockets: the kernel's counters of the other end, or NULL */
};

struct wait_ends; /* all ends of the job's connections, by name */

/* -ENOMEM. */
int wait_ends_make(const struct recording *recording, struct wait_ends **ret_ends);
void wait_ends_free(struct wait_ends *ends);

/* -ENOMEM. */
int wait_peers_find(const struct wait_ends *ends, const struct wait_member *members, size_t n,
                    size_t who, struct wait_peers *ret_peers);
void wait_peers_release(struct wait_peers *peers);

#endif
