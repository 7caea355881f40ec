/* SPDX-License-Identifier: MIT */
/* Programs without MPI: each host has one process of the job, for which the kernel counts known
 * shares of the time.
 */
#ifndef CHOKEPOINT_TESTS_COUNTED_PROCESS_H
#define CHOKEPOINT_TESTS_COUNTED_PROCESS_H

#include "tests/unit/lockstep.h"

#define PID 1000
#define SECONDS 12

struct shares {
    double cpu, queue, disk;
};

/* input of process_of() */
static struct shares shares_now;
static int host_now;
static int threads_now;   /* threads of each process */
static double kernel_now; /* the part of CPU time in the kernel, as a share of all time */
static double unseen_now; /* cores used by short-lived processes below it */
static double gpu_now;    /* 1: it maps a GPU library; NAN: not recorded */

static inline double process_of(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case PROCESS_PID:
        return PID + host_now;
    case PROCESS_RANK:
    case PROCESS_START: /* before the first sample */
        return NAN;
    case PROCESS_JOB:
        return 1;
    case PROCESS_USER:
        return (shares_now.cpu - kernel_now) * 1e9;
    case PROCESS_SYSTEM:
        return kernel_now * 1e9;
    case PROCESS_RUN_QUEUE:
        return shares_now.queue * 1e9;
    case PROCESS_BLOCK_IO:
        return shares_now.disk * 1e9;
    case PROCESS_THREADS:
        return threads_now;
    case PROCESS_UNSEEN:
        return unseen_now * 1e9;
    case PROCESS_GPU:
        return gpu_now;
    default:
        return 0;
    }
}

#endif
