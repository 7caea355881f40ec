/* SPDX-License-Identifier: MIT */
/*
 * Measures the counter's rate once, over 50 ms, between two readings of both clocks. If the thread
 * loses its core during a reading, the reading is repeated at the next call.
 */
#include "agent/shim/tick.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MEASURE_NS INT64_C(50000000)
#define WINDOW_NS INT64_C(100000)    /* as tick.h says */
#define CHECK_NS INT64_C(1000000000) /* from base to comparison with the clock */
#define TOLERANCE_NS 1000            /* and 1/2048, the largest slew of a clock */
#define LOOK_TICKS 2000              /* more between two readings: the thread lost its core */
#define SCALE_ONE (UINT64_C(1) << TICK_FRACTION)

uint64_t tick_scale;

struct look {
    uint64_t tick;
    int64_t ns;
};

enum { UNUSED, UNSEEN, SEEING, SEEN }; /* states of the measurement; UNUSED: no counter */

static struct look first;
static int measuring;

static int64_t clock_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool look(struct look *ret_look) {
    uint64_t before = tick_now();
    int64_t ns = clock_now_ns();
    uint64_t took = tick_now() - before;
    *ret_look = (struct look){before + took / 2, ns};
    return took > 0 && took < LOOK_TICKS;
}

static bool is_reliable(const char *source) {
    char name[16] = "";
    int fd = open(source, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, name, sizeof name - 1);
    close(fd);
    return n > 0 && (strcmp(name, "tsc\n") == 0 || strcmp(name, "kvm-clock\n") == 0 ||
                     strncmp(name, "hyperv_clocksource_tsc_page", 15) == 0);
}

void tick_open(const char *source) {
    __atomic_store_n(&tick_scale, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&measuring, is_reliable(source) ? UNSEEN : UNUSED, __ATOMIC_RELEASE);
}

static uint64_t scale_of(uint64_t ticks, int64_t ns) {
    if (ns < MEASURE_NS || !ticks)
        return 0;
    return (uint64_t)((double)ns / (double)ticks * (double)SCALE_ONE);
}

static void see_first(const struct look *now) {
    int unseen = UNSEEN;
    if (!__atomic_compare_exchange_n(&measuring, &unseen, SEEING, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return;
    first = *now;
    __atomic_store_n(&measuring, SEEN, __ATOMIC_RELEASE);
}

/* The second reading, long after the first, gives the scale. A counter has 50 MHz to 10 GHz. */
static void measure(const struct look *now) {
    if (__atomic_load_n(&measuring, __ATOMIC_ACQUIRE) != SEEN) {
        see_first(now);
        return;
    }
    uint64_t scale = scale_of(now->tick - first.tick, now->ns - first.ns);
    if (!scale)
        return;
    if (scale > SCALE_ONE / 10 && scale < SCALE_ONE * 20)
        __atomic_store_n(&tick_scale, scale, __ATOMIC_RELAXED);
    __atomic_store_n(&measuring, UNUSED, __ATOMIC_RELAXED);
}

/* Whether the counter agrees with the clock since the base. */
static bool agrees(const struct tick_clock *clock, const struct look *now, uint64_t scale) {
    int64_t passed_ns = now->ns - clock->base_ns;
    if (!clock->limit || passed_ns > CHECK_NS)
        return true;
    uint64_t passed = now->tick - clock->base_tick;
    if (passed > (uint64_t)(2 * CHECK_NS) * SCALE_ONE / scale)
        return false;
    int64_t error = (int64_t)(passed * scale >> TICK_FRACTION) - passed_ns;
    int64_t most = TOLERANCE_NS + (passed_ns > 0 ? passed_ns >> 11 : 0);
    return error <= most && error >= -most;
}

static void set_base(struct tick_clock *clock, const struct look *now) {
    uint64_t scale = __atomic_load_n(&tick_scale, __ATOMIC_RELAXED);
    if (scale && !agrees(clock, now, scale))
        __atomic_store_n(&tick_scale, scale = 0, __ATOMIC_RELAXED);
    *clock = (struct tick_clock){.base_tick = now->tick,
                                 .base_ns = now->ns,
                                 .last_ns = clock->last_ns,
                                 .scale = scale,
                                 .limit = scale ? (uint64_t)WINDOW_NS * SCALE_ONE / scale : 0};
}

/* Returns the time of the clock. */
static int64_t look_at_both(struct tick_clock *clock, bool measured) {
    struct look now;
    bool whole = look(&now);
    if (whole && measured)
        set_base(clock, &now);
    else if (whole)
        measure(&now);
    return now.ns;
}

int64_t tick_clock_ask(struct tick_clock *clock) {
    bool measured = __atomic_load_n(&tick_scale, __ATOMIC_RELAXED);
    bool is_used = measured || __atomic_load_n(&measuring, __ATOMIC_RELAXED) != UNUSED;
    int64_t now_ns = is_used ? look_at_both(clock, measured) : clock_now_ns();
    if (!is_used)
        clock->limit = 0;
    if (now_ns > clock->last_ns)
        clock->last_ns = now_ns;
    return clock->last_ns;
}
