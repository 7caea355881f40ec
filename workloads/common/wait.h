/* SPDX-License-Identifier: MIT */
/*
 * Waits for MPI without keeping a core busy. Blocking MPI calls spin; if ranks share a core, a
 * spinning rank takes CPU time from the one it waits for. So these functions test and then sleep,
 * 20 us at first and twice as long each time up to 1 ms. The cost is that delay.
 */
#ifndef CHOKEPOINT_WORKLOADS_WAIT_H
#define CHOKEPOINT_WORKLOADS_WAIT_H

#include <mpi.h>
#include <stdbool.h>

struct waiter {
    bool spin; /* blocking waits and busy polling instead */
    long backoff_ns;
};

/* For the calling thread: its back-offs then end within a microsecond. By default the kernel adds
 * 50 us to each. */
void waiter_begin(struct waiter *waiter, bool spin);

/* Call it after progress: the next back-off is short. */
void waiter_wake(struct waiter *waiter);

/* Call it without progress: sleeps for one back-off (not when spinning). */
void waiter_back_off(struct waiter *waiter);

/* Completes all requests. */
void wait_all(struct waiter *waiter, int n, MPI_Request *requests);

#endif
