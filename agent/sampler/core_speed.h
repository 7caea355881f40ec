/* SPDX-License-Identifier: MIT */
/*
 * A fixed computation, the same on every host: its CPU time shows the speed of a core. All hosts
 * sample at the same instants, so the sibling of a physical core is measured while it is busy, too.
 */
#ifndef CHOKEPOINT_AGENT_CORE_SPEED_H
#define CHOKEPOINT_AGENT_CORE_SPEED_H

#include <stdint.h>

/* Independent sums, as many in a cycle as a core can do: a busy sibling slows them as it slows a
 * program, while a chain of products would hardly notice it. Uses no memory. About 10 us on a core
 * of 2026. */
uint64_t core_speed_work(uint64_t seed);

/* CPU time of the computation on this core, ns: the shorter of two, since the first one has cold
 * caches, and an interruption does not show the core's speed. cpu_ns: the calling thread's CPU
 * time. */
int64_t core_speed_measure(int64_t (*cpu_ns)(void *ctx), void *ctx);

#endif
