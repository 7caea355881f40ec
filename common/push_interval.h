/* SPDX-License-Identifier: MIT */
/* How often each host of a run pushes; the collector asks for it, and live views wait that long. */
#ifndef CHOKEPOINT_COMMON_PUSH_INTERVAL_H
#define CHOKEPOINT_COMMON_PUSH_INTERVAL_H

#include <stdint.h>

#define PUSH_INTERVAL_HOSTS 1024 /* pushes a second; even a small one has its cost */

/* Seconds, at least 1; one more for each further PUSH_INTERVAL_HOSTS hosts. */
static inline int64_t push_interval_s(uint64_t n_hosts) {
    return n_hosts ? (int64_t)((n_hosts - 1) / PUSH_INTERVAL_HOSTS) + 1 : 1;
}

#endif
