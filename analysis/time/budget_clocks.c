/* SPDX-License-Identifier: MIT */
/* Divides the time of a process without MPI by its wait clocks. */
#include <math.h>

#include "analysis/time/budget_private.h"

#define CLOCKED_MIN 0.5 /* of an interval: its clocks covered at least this share */

/* Whether the clocks ran during the whole interval. */
static bool is_clocked(const struct budget_interval *i) {
    return process_time_sum(&i->clocks) >= CLOCKED_MIN * (double)(i->end_ns - i->begin_ns);
}

/* Counters of the host or group (steal, throttling, memory) count only within the clocks' own
 * states: steal while on a core, throttling while ready to run, memory while blocked.
 */
bool budget_divide_clocks(const struct budget_interval *i, double share, struct cell *c) {
    if (!is_clocked(i))
        return false;
    const struct process_time *t = &i->clocks;
    double steal = fmin(budget_amount(i->steal), t->run);
    double quota = fmin(budget_amount(i->quota), t->runnable);
    double blocked = t->disk + t->fault, memory = fmin(budget_amount(i->memory), blocked);
    double memory_cpu = fmin(budget_amount(i->memory_cpu), t->run - steal);
    double amounts[BUDGET_TERMS] = {[BUDGET_CPU] = t->run - steal - memory_cpu,
                                    [BUDGET_RUN_QUEUE] = t->runnable - quota,
                                    [BUDGET_QUOTA] = quota,
                                    [BUDGET_STEAL] = steal,
                                    [BUDGET_DISK] = blocked - memory,
                                    [BUDGET_MEMORY] = memory + memory_cpu,
                                    [BUDGET_GPU] = t->gpu,
                                    [BUDGET_GPU_COPY] = t->gpu_copy,
                                    [BUDGET_STOPPED] = t->stopped,
                                    [BUDGET_IDLE] = t->asleep,
                                    [BUDGET_PEER_WAIT] = t->peer,
                                    [BUDGET_TRANSFER] = t->send};
    for (int term = 0; term < BUDGET_TERMS; term++)
        c->term[term] += share * amounts[term];
    double polled = t->gpu + t->gpu_copy; /* at most: it may have slept */
    c->extra_cpu += share * fmax(budget_amount(i->cpu) - t->run - polled, 0);
    c->dark |= 1u << BUDGET_OVERHEAD | 1u << BUDGET_FILE | 1u << BUDGET_UNSPLIT;
    c->source = BUDGET_FROM_CLOCKS;
    return true;
}
