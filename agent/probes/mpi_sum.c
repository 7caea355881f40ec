/* SPDX-License-Identifier: MIT */
#include "agent/probes/mpi.h"

#include <string.h>

/* A part that does not fit saturates the sum: a rank that writes nonsense harms only its own
 * row. */
static void add(int64_t *sum, uint64_t part) {
    int64_t value = counter_value(part, 1);
    if (value == VALUE_ABSENT || __builtin_add_overflow(*sum, value, sum))
        *sum = INT64_MAX;
}

void mpi_sum_total(struct mpi_sum *sum, const struct call_total *total) {
    add(&sum->calls, total->calls);
    add(&sum->inside_ns, total->time_ns);
    add(&sum->measured_ns, total->measured_ns);
    add(&sum->cpu_ns, total->cpu_ns);
    add(&sum->sent_bytes, total->sent_bytes);
    add(&sum->received_bytes, total->received_bytes);
    add(&sum->unsized, total->unsized);
    add(&sum->failed, total->failed);
}

void mpi_sum_now(struct mpi_sum *sum, const struct call_now *call, int64_t now_ns) {
    if (call->enter_ns <= 0 || call->enter_ns > now_ns)
        return;
    sum->threads_inside++;
    add(&sum->inside_ns, (uint64_t)(now_ns - call->enter_ns));
}

void mpi_sum_put(const struct mpi_sum *sum, int64_t *ret_values) {
    const int64_t values[MPI_SUM_COLUMNS] = {sum->inside_ns,  sum->measured_ns,    sum->cpu_ns,
                                             sum->sent_bytes, sum->received_bytes, sum->unsized,
                                             sum->calls,      sum->failed};
    memcpy(ret_values, values, sizeof values);
}
