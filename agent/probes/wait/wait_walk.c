/* SPDX-License-Identifier: MIT */
/* Walks over slots while programs in the kernel take some. */
#include "agent/probes/wait/wait_watch.h"

static uint32_t slots_in_use(uint32_t high, uint32_t next, uint32_t capacity) {
    uint32_t n = high > next ? high : next;
    return n < capacity ? n : capacity;
}

struct wait_walk wait_walk_begin(uint32_t high, const uint32_t *next, uint32_t capacity) {
    uint32_t n = slots_in_use(high, __atomic_load_n(next, __ATOMIC_RELAXED), capacity);
    return (struct wait_walk){.n = n, .lowest = n};
}

void wait_walk_saw(struct wait_walk *walk, uint32_t at, bool is_free) {
    if (!is_free)
        walk->high = at + 1;
    else if (at < walk->lowest)
        walk->lowest = at;
}

uint32_t wait_walk_end(const struct wait_walk *walk, uint32_t *next, uint32_t capacity) {
    /* Slots that were taken during the walk are below the returned bound. */
    uint32_t taken = __atomic_exchange_n(next, walk->lowest, __ATOMIC_RELAXED);
    return slots_in_use(walk->high, taken, capacity);
}
