/* SPDX-License-Identifier: MIT */
/*
 * Sends a part of a ring to the collector of a run, as the agent that wrote it would have done:
 * `chokepoint cut` starts it on each host. The frames are copied to the spool of this
 * process, with the job marked, and pushed from there; streams of several agents or boots come one
 * after the other.
 */
#ifndef CHOKEPOINT_AGENT_SEND_RING_H
#define CHOKEPOINT_AGENT_SEND_RING_H

struct agent_options;

/* The exit status: 0 all was sent, 3 the collector has not taken all, 4 the ring has nothing of
 * this time, 1 it cannot be read. It says on standard error what is missing. */
int send_ring(const struct agent_options *options);

#endif
