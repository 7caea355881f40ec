/* SPDX-License-Identifier: MIT */
/* Agents that only check their hosts, started in the same way as those of `run`. */
#ifndef CHOKEPOINT_CLI_DOCTOR_GATHER_H
#define CHOKEPOINT_CLI_DOCTOR_GATHER_H

#include "cli/doctor/examination.h"
#include "cli/launch/hosts.h"
#include "cli/launch/launch.h"

struct gathered {
    struct launch *launches; /* owned */
    struct examined *hosts;  /* owned */
    size_t n;
    char local_name[256];
    char *peers; /* owned: all hosts, separated by commas */
};

/* Starts all agents and reads their findings, for timeout_ns at most. A host that does not answer
 * gets a finding. Negative errno with a line in why; release in any case. */
int gather(const struct hosts *hosts, enum launch_method method, int64_t timeout_ns,
           struct gathered *ret_gathered, char *why, size_t why_size);
void gathered_release(struct gathered *gathered);

#endif
