/* SPDX-License-Identifier: MIT */
/* The `self` table: what each probe and the agent as a whole cost and lost. */
#ifndef CHOKEPOINT_AGENT_SELF_H
#define CHOKEPOINT_AGENT_SELF_H

#include "common/rows.h"

/* Cost of one probe since the agent's process started. */
struct self_cost {
    int64_t cpu_ns; /* of the sampling thread, in its sample() */
    uint64_t samples;
    uint64_t failures;
    uint64_t dropped_rows; /* that its tables had no room for */
};

/* The instance of a cost that is of no probe, but of a measurement of the core's speed
 * (agent/sampler/core_speed.h) a frame. */
#define SELF_CORE "core"

struct self_agent {
    uint64_t frames;
    uint64_t lost;   /* frames, as in the frame's head */
    int64_t late_ns; /* the most since the previous row */
    int statm_fd;    /* of <proc>/self/statm; -1 if there is none */
    int64_t page_size;
};

extern const struct table self_table;

void self_append_probe(struct rows *rows, const char *name, const struct self_cost *cost);

/* The instance "agent": CPU time of the whole process, its resident memory. */
void self_append_agent(struct rows *rows, const struct self_agent *agent);

/* <proc>/self/statm, or -1. */
int self_open_statm(const char *proc);

#endif
