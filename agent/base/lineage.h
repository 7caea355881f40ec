/* SPDX-License-Identifier: MIT */
/*
 * The owners of reported processes: ancestors, user, session and control groups, as the process
 * probe found them. A ring keeps this beside its frames, so that a cut that is made later can still
 * tell which processes were a job (agent/ring/ring_marks.h).
 */
#ifndef CHOKEPOINT_AGENT_LINEAGE_H
#define CHOKEPOINT_AGENT_LINEAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"
#include "common/cursor.h"

#define LINEAGE_MAX 4096 /* processes; further ones have none */
#define LINEAGE_ABOVE_MAX 24
#define LINEAGE_GROUPS_MAX 1000 /* bytes; whole lines are left out beyond it */

struct lineage_entry {
    int32_t pid, session;
    uint32_t user;
    int64_t start_ns; /* as in the row of the process */
    int32_t above[LINEAGE_ABOVE_MAX];
    uint8_t n_above;
    uint16_t groups_size;
    char groups[LINEAGE_GROUPS_MAX]; /* text of /proc/PID/cgroup */
    uint64_t seen;                   /* lineage.round in which it was reported last */
    bool is_new;                     /* not taken by lineage_take_new yet */
};

struct lineage { /* all zero: empty */
    size_t n;
    uint64_t round; /* a segment of the ring */
    struct lineage_entry entries[LINEAGE_MAX];
};

/* The entry of a process that is reported now; *place is where it was found last, and is updated.
 * NULL: it is known and needs nothing, or there is no room. Otherwise the caller fills the entry,
 * anew once in each round. `again`: also if it is known. */
struct lineage_entry *lineage_report(struct lineage *lineage, size_t *place, int32_t pid,
                                     int64_t start_ns, bool again);

/* Keeps the text of a /proc/PID/cgroup, by whole lines. */
void lineage_set_groups(struct lineage_entry *entry, const char *text, size_t size);

/* Appends the entries that are new since the last call, and says how many there are. */
size_t lineage_take_new(struct lineage *lineage, struct buffer *to);

/* Appends all entries of this round, and says how many there are. */
size_t lineage_put_round(const struct lineage *lineage, struct buffer *to);

/* Begins the next round: entries that were not reported in this one are forgotten. */
void lineage_next_round(struct lineage *lineage);

/* Reads one entry from untrusted bytes; c->bad: there is none. */
void lineage_read(struct cursor *c, struct lineage_entry *ret_entry);

#endif
