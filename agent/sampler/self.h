/* SPDX-License-Identifier: MIT */
/*
 * The `self` table: cost and losses of each probe and of the whole agent.
 *
 * Costs are told with each slow slot for half a minute, so that a short recording has them, and
 * each tenth second later. Two rows do not wait: the core's speed, which is compared over phases of
 * the program, and one that tells of a failure or a loss.
 */
#ifndef CHOKEPOINT_AGENT_SELF_H
#define CHOKEPOINT_AGENT_SELF_H

#include <stdbool.h>

#include "common/clock.h"
#include "common/rows.h"

#define SELF_OFTEN_NS (30 * NS_PER_S) /* costs are told with each slow slot for so long */
#define SELF_EVERY_NS (10 * NS_PER_S) /* and once in so long later */

/* Cost of one probe since the agent's process started. */
struct self_cost {
    int64_t cpu_ns; /* CPU time of the sampling thread in its sample() */
    uint64_t samples;
    uint64_t failures;
    uint64_t dropped_rows; /* rows without room in its tables */
    uint64_t told;         /* failures and dropped rows that its last row told */
};

/* The instance for the measurement of the core's speed (agent/sampler/core_speed.h), once a frame,
 * which is no probe. */
#define SELF_CORE "core"

struct self_agent {
    uint64_t frames;
    uint64_t lost;   /* as in the frame's head */
    uint64_t told;   /* lost frames that its last row told */
    int64_t late_ns; /* maximum since the previous row */
    int statm_fd;    /* descriptor of <proc>/self/statm; -1: none */
    int64_t page_size;
    int64_t began_ns, told_slot_ns; /* of the first frame, and the slot of the last rows; 0: none */
};

/* Whether all rows are due in this frame: it is one of the first or the last, or begins another
 * stretch of SELF_EVERY_NS. The call counts as their telling. */
bool self_is_due(struct self_agent *agent, int64_t slot_ns, int64_t mono_ns, bool last);
/* Whether a row has a failure or a loss to tell. */
bool self_probe_has_news(const struct self_cost *cost);
bool self_agent_has_news(const struct self_agent *agent);

void self_append_probe(struct rows *rows, const char *name, struct self_cost *cost);

/* The instance "agent": CPU time and resident memory of the whole process. */
void self_append_agent(struct rows *rows, struct self_agent *agent);

/* Opens <proc>/self/statm; -1: failed. */
int self_open_statm(const char *proc);

#endif
