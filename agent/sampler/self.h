/* SPDX-License-Identifier: MIT */
/* The `self` table: cost and losses of each probe and of the whole agent. */
#ifndef CHOKEPOINT_AGENT_SELF_H
#define CHOKEPOINT_AGENT_SELF_H

#include "common/rows.h"

/* Cost of one probe since the agent's process started. */
struct self_cost {
    int64_t cpu_ns; /* CPU time of the sampling thread in its sample() */
    uint64_t samples;
    uint64_t failures;
    uint64_t dropped_rows; /* rows without room in its tables */
};

/* The instance for the measurement of the core's speed (agent/sampler/core_speed.h), once a frame,
 * which is no probe. */
#define SELF_CORE "core"

struct self_agent {
    uint64_t frames;
    uint64_t lost;   /* as in the frame's head */
    int64_t late_ns; /* maximum since the previous row */
    int statm_fd;    /* descriptor of <proc>/self/statm; -1: none */
    int64_t page_size;
};

void self_append_probe(struct rows *rows, const char *name, const struct self_cost *cost);

/* The instance "agent": CPU time and resident memory of the whole process. */
void self_append_agent(struct rows *rows, const struct self_agent *agent);

/* Opens <proc>/self/statm; -1: failed. */
int self_open_statm(const char *proc);

#endif
