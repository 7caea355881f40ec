/* SPDX-License-Identifier: MIT */
/* Shared by the tables of MPI totals: sums of counters that may be hostile, and calls that have not
 * returned. */
#ifndef CHOKEPOINT_AGENT_PROBES_MPI_H
#define CHOKEPOINT_AGENT_PROBES_MPI_H

#include "agent/base/counter.h"
#include "agent/probes/call_watch.h"

/* Adds up one function or all of them. */
struct mpi_sum {
    int64_t calls, inside_ns, measured_ns, cpu_ns, sent_bytes, received_bytes, unsized, failed;
    int64_t threads_inside; /* threads inside a call now; inside_ns has their time so far */
};

void mpi_sum_total(struct mpi_sum *sum, const struct call_total *total);
/* Adds a call that has not returned. */
void mpi_sum_now(struct mpi_sum *sum, const struct call_now *call, int64_t now_ns);

/* The columns that rows of both tables have: inside_ns, measured_ns, cpu_ns, sent_bytes,
 * received_bytes, unsized, calls, failed. */
#define MPI_SUM_COLUMNS 8
void mpi_sum_put(const struct mpi_sum *sum, int64_t *ret_values);

#endif
