/* SPDX-License-Identifier: MIT */
/*
 * The names a source has shown, so that a probe can tell what came and went: disks and interfaces
 * may be plugged at any time. Sources keep their order, so the entry after the last one found is
 * tried first and finding costs one comparison.
 */
#ifndef CHOKEPOINT_AGENT_NAME_SET_H
#define CHOKEPOINT_AGENT_NAME_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_SET_NAME_MAX 95 /* as long as an instance's */

struct name_set_entry {
    char name[NAME_SET_NAME_MAX + 1];
    uint8_t size;
    uint8_t note;  /* the probe's own */
    bool born;     /* was not there at the previous sample, nor before with more on its counters */
    uint64_t seen; /* number of the sample that saw it last */
    uint64_t growth; /* the probe's sum of counters then: less when it is seen again means anew */
};

struct name_set {
    struct name_set_entry *entries; /* owned */
    size_t n, capacity, next;
    uint64_t sample; /* number of the current one, from 1 */
    bool came;       /* during this sample, some name */
    size_t n_seen, n_seen_before;
};

/* -ENOMEM. */
int name_set_init(struct name_set *names, size_t capacity);
void name_set_release(struct name_set *names);

void name_set_begin(struct name_set *names);

/* Whether the set of names differs from that of the sample before. */
bool name_set_end(const struct name_set *names);

/* The entry of a name seen in this sample, a new one if need be. `growth`: any sum of the
 * instance's counters. NULL when the name is too long, was seen in this sample already, or has no
 * room. */
struct name_set_entry *name_set_see(struct name_set *names, const char *name, size_t size,
                                    uint64_t growth);

#endif
