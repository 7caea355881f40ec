/* SPDX-License-Identifier: MIT */
/*
 * Waiting for MPI without burning a core. Blocking MPI calls spin, and on machines where several
 * ranks share a core a spinning rank takes the time from the one it waits for. So: test, and if
 * nothing has happened sleep, 20 us at first and twice as long each time up to 1 ms. The price is
 * that delay.
 */
#ifndef CHOKEPOINT_WORKLOADS_WAIT_H
#define CHOKEPOINT_WORKLOADS_WAIT_H

#include <mpi.h>
#include <stdbool.h>

struct waiter {
    bool spin; /* plain blocking waits and busy polling instead */
    long backoff_ns;
};

/* For the calling thread, whose back-offs then end within a microsecond of their time: by default
 * the kernel lets each of them last 50 us longer. */
void waiter_begin(struct waiter *waiter, bool spin);

/* Something has happened: the next back-off is a short one. */
void waiter_wake(struct waiter *waiter);

/* Nothing has happened: one back-off (none when spinning). */
void waiter_back_off(struct waiter *waiter);

/* Completes all requests. */
void wait_all(struct waiter *waiter, int n, MPI_Request *requests);

#endif
