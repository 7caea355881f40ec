/* SPDX-License-Identifier: MIT */
#include "workloads/common/wait.h"

#include <sys/prctl.h>
#include <time.h>

#define SHORTEST_BACKOFF_NS 20000
#define SLACK_NS 1000UL
#define LONGEST_BACKOFF_NS 1000000
#define STATUSES_MAX 8 /* with a status, so that observers of MPI see how many bytes came */

void waiter_begin(struct waiter *waiter, bool spin) {
    *waiter = (struct waiter){.spin = spin};
    prctl(PR_SET_TIMERSLACK, SLACK_NS, 0, 0, 0);
}

void waiter_wake(struct waiter *waiter) {
    waiter->backoff_ns = SHORTEST_BACKOFF_NS;
}

void waiter_back_off(struct waiter *waiter) {
    if (waiter->spin)
        return;
    if (waiter->backoff_ns < SHORTEST_BACKOFF_NS)
        waiter->backoff_ns = SHORTEST_BACKOFF_NS;
    nanosleep(&(struct timespec){.tv_nsec = waiter->backoff_ns}, NULL);
    waiter->backoff_ns *= 2;
    if (waiter->backoff_ns > LONGEST_BACKOFF_NS)
        waiter->backoff_ns = LONGEST_BACKOFF_NS;
}

void wait_all(struct waiter *waiter, int n, MPI_Request *requests) {
    MPI_Status room[STATUSES_MAX], *statuses = n <= STATUSES_MAX ? room : MPI_STATUSES_IGNORE;
    int done = 0;
    if (waiter->spin) {
        MPI_Waitall(n, requests, statuses);
        return;
    }
    waiter_wake(waiter);
    for (;;) {
        MPI_Testall(n, requests, &done, statuses);
        if (done)
            return;
        waiter_back_off(waiter);
    }
}
