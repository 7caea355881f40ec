/* SPDX-License-Identifier: MIT */
/*
 * CLOCK_MONOTONIC at half its price: two readings of the clock are more than half the cost of a
 * recorded call. A thread reads the kernel's clock every 100 us and adds the processor's counter in
 * between. So no time is wrong by more than 100 us, whatever the counter does. The counter is
 * compared with the clock each time; a counter that disagrees is not used any more in this process.
 * It is used only if the kernel's clock uses the same counter.
 */
#ifndef CHOKEPOINT_AGENT_SHIM_TICK_H
#define CHOKEPOINT_AGENT_SHIM_TICK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define TICK_FRACTION 32 /* fraction bits of a scale */

/* The clock of one thread; all zero: nothing known yet. */
struct tick_clock {
    uint64_t base_tick, limit; /* limit: the clock is read again so many ticks after the base */
    uint64_t scale;            /* ns of a tick; as tick_scale */
    int64_t base_ns, last_ns;
};

extern uint64_t tick_scale; /* for all threads; 0: not known, or not used */

/* Begins to measure the counter if `source`, a file with the name of the kernel's clock, names a
 * reliable one. */
void tick_open(const char *source);

/* Reads the kernel's clock. */
int64_t tick_clock_ask(struct tick_clock *clock);

static inline uint64_t tick_now(void) {
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

/* Never returns less to the thread than before. */
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
