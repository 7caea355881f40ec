/* SPDX-License-Identifier: MIT */
/* Agents that only check their hosts, started as `run` starts those that observe. */
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
    char *peers; /* owned: all hosts, with commas */
};

/* Starts all and hears them out, for timeout_ns at most. A host that gives no answer gets a finding
 * that says so. Negative errno with a line in why; release in any case. */
int gather(const struct hosts *hosts, enum launch_method method, int64_t timeout_ns,
           struct gathered *ret_gathered, char *why, size_t why_size);
void gathered_release(struct gathered *gathered);

#endif
