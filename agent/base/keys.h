/* SPDX-License-Identifier: MIT */
/*
 * Files of named numbers: /proc/meminfo, /proc/vmstat, memory.stat. A small hash finds lines by
 * name, since kernels add, drop and reorder them. Several names may add up to one column.
 */
#ifndef CHOKEPOINT_AGENT_KEYS_H
#define CHOKEPOINT_AGENT_KEYS_H

#include <stddef.h>
#include <stdint.h>

#define KEY_PAGES 0 /* scale: the number counts pages */

struct key {
    const char *name;
    uint8_t column; /* column, below 64 */
    int64_t scale;  /* factor to the column's unit, or KEY_PAGES */
};

struct keys {
    const struct key *list; /* borrowed, at most 100 */
    uint8_t slots[256];     /* index + 1 into the list, 0: free */
};

void keys_init(struct keys *keys, const struct key *list, size_t n);

/* Reads lines "name 123" and "name: 123 kB", and adds each number with a listed name to its column
 * of values. A column without any line keeps its value; one that exceeds INT64_MAX becomes
 * VALUE_ABSENT. */
void keys_read(const struct keys *keys, const char *text, const char *end, int64_t page_size,
               int64_t *values);

#endif
