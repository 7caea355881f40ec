/* SPDX-License-Identifier: MIT */
#include "agent/probes/mpi.h"

#include <string.h>

/* A part that does not fit saturates the sum: a rank that writes nonsense harms only its own
 * row. */
static void add_saturating(int64_t *sum, uint64_t part) {
    int64_t value = counter_value(part, 1);
    if (value == VALUE_ABSENT || __builtin_add_overflow(*sum, value, sum))
        *sum = INT64_MAX;
}

void mpi_sum_total(struct mpi_sum *sum, const struct call_total *total) {
    add_saturating(&sum->calls, total->calls);
    add_saturating(&sum->inside_ns, total->time_ns);
    add_saturating(&sum->measured_ns, total->measured_ns);
    add_saturating(&sum->cpu_ns, total->cpu_ns);
    add_saturating(&sum->sent_bytes, total->sent_bytes);
    add_saturating(&sum->received_bytes, total->received_bytes);
    add_saturating(&sum->unsized, total->unsized);
    add_saturating(&sum->failed, total->failed);
}

void mpi_sum_now(struct mpi_sum *sum, const struct call_now *call, int64_t now_ns) {
    if (call->enter_ns <= 0 || call->enter_ns > now_ns)
        return;
    sum->threads_inside++;
    add_saturating(&sum->inside_ns, (uint64_t)(now_ns - call->enter_ns));
}

void mpi_sum_put(const struct mpi_sum *sum, int64_t *ret_values) {
    const int64_t values[MPI_SUM_COLUMNS] = {sum->inside_ns,  sum->measured_ns,    sum->cpu_ns,
                                             sum->sent_bytes, sum->received_bytes, sum->unsized,
                                             sum->calls,      sum->failed};
    memcpy(ret_values, values, sizeof values);
}
