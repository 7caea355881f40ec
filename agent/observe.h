/* SPDX-License-Identifier: MIT */
/* The sampling process: probes, sampler, spool and push of one host, from start to the last
 * delivery. */
#ifndef CHOKEPOINT_AGENT_OBSERVE_H
#define CHOKEPOINT_AGENT_OBSERVE_H

#include <stdint.h>

#include "agent/options.h"
#include "agent/spool/spool.h"

#define EXIT_UNDELIVERED 3

/* State that must outlive the sampling process, in memory shared with its supervisor. */
struct agent_memory {
    uint64_t stream_id; /* even; the stream of single events has the next id */
    struct spool_memory samples, calls;
};

/* A new random stream without frames. -EIO. */
int agent_memory_begin(struct agent_memory *memory);

/* Samples until told to stop, then delivers what it can. The caller blocks SIGTERM, SIGINT and
 * SIGHUP. Reports to standard error. Returns the exit status: 0, EXIT_UNDELIVERED, or 1. */
int observe(const struct agent_options *options, struct agent_memory *memory);

/* Prints a line on standard error in the agent's form: "chokepoint-agent: HOST: TEXT". */
void agent_say(const struct agent_options *options, const char *text);

#endif
