/* SPDX-License-Identifier: MIT */
/*
 * CLOCK_MONOTONIC at half its price: two looks at the clock are more than half of what a recorded
 * call costs. A thread asks the kernel's clock every 100 us, and in between adds what the
 * processor's counter has moved since. So no time is wrong by more than these 100 us, whatever the
 * counter does, and it is held against the clock each time: one that disagrees is used no more in
 * this process. Only where the kernel's own clock rests on that counter.
 */
#ifndef CHOKEPOINT_AGENT_SHIM_TICK_H
#define CHOKEPOINT_AGENT_SHIM_TICK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define TICK_FRACTION 32 /* bits of a scale behind the point */

/* The clock of one thread; all zero: nothing known yet. */
struct tick_clock {
    uint64_t base_tick, limit; /* limit: ticks after the base from which on the clock is asked */
    uint64_t scale;            /* ns of a tick; as tick_scale */
    int64_t base_ns, last_ns;
};

extern uint64_t tick_scale; /* of all threads; 0: not known, or not used */

/* Begins to measure the counter, if `source`, a file with the name of the kernel's clock, says that
 * it is one to rely on. */
void tick_open(const char *source);

/* Asks the kernel's clock. */
int64_t tick_clock_ask(struct tick_clock *clock);

static inline uint64_t tick_now(void) {
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

/* Never less than the thread was told before. */
static inline int64_t tick_clock_ns(struct tick_clock *clock) {
    uint64_t passed = tick_now() - clock->base_tick;
    if (__builtin_expect(passed >= clock->limit, 0))
        return tick_clock_ask(clock);
    int64_t now_ns = clock->base_ns + (int64_t)(passed * clock->scale >> TICK_FRACTION);
    if (now_ns > clock->last_ns)
        clock->last_ns = now_ns;
    return clock->last_ns;
}

#endif
