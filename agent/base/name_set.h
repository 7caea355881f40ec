/* SPDX-License-Identifier: MIT */
/*
 * The names that a source has shown, so that a probe sees what came and went: disks and interfaces
 * may be plugged at any time. Sources keep their order, so the entry after the last one found is
 * tried first, and a search costs one comparison.
 */
#ifndef CHOKEPOINT_AGENT_NAME_SET_H
#define CHOKEPOINT_AGENT_NAME_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_SET_NAME_MAX 95 /* same limit as an instance's name */

struct name_set_entry {
    char name[NAME_SET_NAME_MAX + 1];
    uint8_t size;
    uint8_t note;    /* for the probe */
    bool born;       /* absent from the previous sample, and its counters restarted */
    uint64_t seen;   /* number of the last sample with this name */
    uint64_t growth; /* the counters' sum in that sample: a lower sum means a new device */
};

struct name_set {
    struct name_set_entry *entries; /* owned */
    size_t n, capacity, next;
    uint64_t sample; /* number of the current sample, from 1 */
    bool came;       /* a name was added in this sample */
    size_t n_seen, n_seen_before;
};

/* -ENOMEM. */
int name_set_init(struct name_set *names, size_t capacity);
void name_set_release(struct name_set *names);

void name_set_begin(struct name_set *names);

/* Whether the set of names differs from the previous sample. */
bool name_set_end(const struct name_set *names);

/* The entry of a name in this sample, created if needed. `growth`: a sum of the instance's
 * counters. NULL if the name is too long, was seen in this sample already, or has no room. */
struct name_set_entry *name_set_see(struct name_set *names, const char *name, size_t size,
                                    uint64_t growth);

#endif
