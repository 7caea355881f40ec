/* SPDX-License-Identifier: MIT */
/*
 * Maps ids (processes, threads) to places 0..n-1 in the caller's array. Places stay dense, so that
 * only as much memory is touched as there are ids.
 */
#ifndef CHOKEPOINT_AGENT_IDMAP_H
#define CHOKEPOINT_AGENT_IDMAP_H

#include <stddef.h>
#include <stdint.h>

#define IDMAP_CAPACITY 16384
#define IDMAP_SLOTS (2 * IDMAP_CAPACITY)

struct idmap { /* all zero: empty */
    size_t n;
    int32_t ids[IDMAP_CAPACITY];
    uint16_t slots[IDMAP_SLOTS]; /* place + 1, 0: free */
};

/* The place of an id, or -1. */
int idmap_find(const struct idmap *map, int32_t id);

/* A place for a new id, or -1 when the map is full. */
int idmap_add(struct idmap *map, int32_t id);

/* Call it after moving ids together with the own array, and setting n. */
void idmap_rebuild(struct idmap *map);

#endif
