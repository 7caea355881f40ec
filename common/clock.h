/* SPDX-License-Identifier: MIT */
/*
 * The clocks, in ns. Intervals always come from the monotonic clock: the wall clock may be stepped
 * at any time, and only names slots and dates.
 */
#ifndef CHOKEPOINT_COMMON_CLOCK_H
#define CHOKEPOINT_COMMON_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_US INT64_C(1000)

static inline int64_t clock_ns(clockid_t id) {
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}
static inline int64_t clock_monotonic_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}
static inline int64_t clock_wall_ns(void) {
    return clock_ns(CLOCK_REALTIME);
}

#endif
