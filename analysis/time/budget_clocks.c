/* SPDX-License-Identifier: MIT */
/* The time of a process without MPI, as its wait clocks tell it. */
#include <math.h>

#include "analysis/time/budget_private.h"

#define CLOCKED_MIN 0.5 /* of an interval: below, its clocks began or were given up within it */

/* They began before, and were not given up, in this interval. */
static bool is_clocked(const struct budget_interval *i) {
    return process_time_sum(&i->clocks) >= CLOCKED_MIN * (double)(i->end_ns - i->begin_ns);
}

static double zero_if_unknown(double value) {
    return isnan(value) || value < 0 ? 0 : value;
}

/* Counters of the host or its group count as far as the process's own clocks have room for them:
 * steal on its core, throttling while it was ready to run, memory while it was blocked. */
bool budget_divide_clocks(const struct budget_interval *i, double share, struct cell *c) {
    if (!is_clocked(i))
        return false;
    const struct process_time *t = &i->clocks;
    double steal = fmin(zero_if_unknown(i->steal), t->run);
    double quota = fmin(zero_if_unknown(i->quota), t->runnable);
    double blocked = t->disk + t->fault, memory = fmin(zero_if_unknown(i->memory), blocked);
    double memory_cpu = fmin(zero_if_unknown(i->memory_cpu), t->run - steal);
    double amounts[BUDGET_TERMS] = {[BUDGET_CPU] = t->run - steal - memory_cpu,
                                    [BUDGET_RUN_QUEUE] = t->runnable - quota,
                                    [BUDGET_QUOTA] = quota,
                                    [BUDGET_STEAL] = steal,
                                    [BUDGET_DISK] = blocked - memory,
                                    [BUDGET_MEMORY] = memory + memory_cpu,
                                    [BUDGET_STOPPED] = t->stopped,
                                    [BUDGET_IDLE] = t->asleep,
                                    [BUDGET_PEER_WAIT] = t->peer,
                                    [BUDGET_TRANSFER] = t->send};
    for (int term = 0; term < BUDGET_TERMS; term++)
        c->term[term] += share * amounts[term];
    c->extra_cpu += share * fmax(zero_if_unknown(i->cpu) - t->run, 0);
    c->dark |= 1u << BUDGET_OVERHEAD | 1u << BUDGET_FILE | 1u << BUDGET_UNSPLIT;
    c->source = BUDGET_FROM_CLOCKS;
    return true;
}
