/* SPDX-License-Identifier: MIT */
/* Converts the kernel's numbers to values in base units; numbers that do not fit become absent, not
 * wrong. */
#ifndef CHOKEPOINT_AGENT_COUNTER_H
#define CHOKEPOINT_AGENT_COUNTER_H

#include <stddef.h>
#include <stdint.h>

#include "common/clock.h"
#include "common/table.h"
#include "common/text.h"

#define SECTOR_BYTES 512 /* of /proc/diskstats, whatever the device's own sectors are */

/* number x scale, or VALUE_ABSENT when that exceeds INT64_MAX. scale > 0. */
static inline int64_t counter_value(uint64_t number, int64_t scale) {
    uint64_t value;
    if (__builtin_mul_overflow(number, (uint64_t)scale, &value) || value > INT64_MAX)
        return VALUE_ABSENT;
    return (int64_t)value;
}

/* Adds a part to a sum that starts as VALUE_ABSENT; an absent part makes the sum absent. */
static inline int64_t counter_add(int64_t sum, int64_t part) {
    if (sum == VALUE_ABSENT || part == VALUE_ABSENT)
        return part;
    return __builtin_add_overflow(sum, part, &sum) ? VALUE_ABSENT : sum;
}

/* ns of one tick of the kernel's user clock. */
static inline int64_t tick_ns(int64_t ticks_per_s) {
    return ticks_per_s > 0 ? NS_PER_S / ticks_per_s : NS_PER_S / 100;
}

/* Reads the unsigned numbers that follow at *p, at most n. Returns their number. */
static inline size_t text_numbers(const char **p, const char *end, uint64_t *ret_numbers,
                                  size_t n) {
    size_t i = 0;
    while (i < n && text_u64(p, end, &ret_numbers[i]))
        i++;
    return i;
}

#endif
