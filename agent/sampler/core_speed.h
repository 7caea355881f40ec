/* SPDX-License-Identifier: MIT */
/*
 * A fixed piece of arithmetic: what CPU time it takes tells how fast a core is, the same program's
 * on every host. All hosts sample at the same instants, so cores that share a physical one are seen
 * with the other busy.
 */
#ifndef CHOKEPOINT_AGENT_CORE_SPEED_H
#define CHOKEPOINT_AGENT_CORE_SPEED_H

#include <stdint.h>

/* Sums that depend on nothing but themselves, as many a cycle as a core has room for: a neighbour
 * on the same physical core takes from those what it takes from a program, where a chain of
 * products hardly notices it. No memory. Some 10 us on a core of 2026. */
uint64_t core_speed_work(uint64_t seed);

/* CPU time of it on this core, ns: the shorter of two, since the first finds cold caches, and an
 * interruption says nothing of the core's speed. cpu_ns: the calling thread's CPU time. */
int64_t core_speed_measure(int64_t (*cpu_ns)(void *ctx), void *ctx);

#endif
