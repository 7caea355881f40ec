/* SPDX-License-Identifier: MIT */
/* The sampling process: probes, sampler, spool and push of one host, from start to drained. */
#ifndef CHOKEPOINT_AGENT_OBSERVE_H
#define CHOKEPOINT_AGENT_OBSERVE_H

#include <stdint.h>

#include "agent/options.h"
#include "agent/spool/spool.h"

#define EXIT_UNDELIVERED 3

/* State that must outlive the sampling process, in memory that it shares with its supervisor. */
struct agent_memory {
    uint64_t stream_id; /* even; single events have the next one */
    struct spool_memory samples, calls;
};

/* A new stream, at random, of which there is no frame yet. -EIO. */
int agent_memory_begin(struct agent_memory *memory);

/* Samples until told to stop and delivers what it can. SIGTERM, SIGINT and SIGHUP are blocked by
 * the caller. Speaks to standard error. Returns the exit status: 0, EXIT_UNDELIVERED, or 1. */
int observe(const struct agent_options *options, struct agent_memory *memory);

/* One line on standard error, as all of the agent's are: "chokepoint-agent: HOST: TEXT". */
void agent_say(const struct agent_options *options, const char *text);

#endif
