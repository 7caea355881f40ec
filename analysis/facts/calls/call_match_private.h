/* SPDX-License-Identifier: MIT */
/* Shared by the files of matching: events numbered across all ranks, and lists of them. */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_CALLS_CALL_MATCH_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_FACTS_CALLS_CALL_MATCH_PRIVATE_H

#include <stdlib.h>

#include "analysis/facts/calls/call_match.h"
#include "analysis/facts/series/key_table.h"
#include "common/table.h" /* VALUE_ABSENT */

enum {
    KEY_MEMBER,
    KEY_CHANNEL,
    KEY_COMPLETION,
    KEY_GROUP,
    KEY_GROUP_MEMBER,
    KEY_GROUP_CALL,
    KEY_NEIGHBOURS,
    KEY_EPOCHS,
    KEY_LOCK,
    KEY_HOLDER
};

struct list {
    uint32_t head, tail; /* event numbers; KEY_NONE */
};
#define LIST_EMPTY                                                                                 \
    { KEY_NONE, KEY_NONE }

struct channel {
    struct list sends, receives; /* in order of their begin */
    uint32_t next_receive;       /* cursor when going backwards: index in its rank */
};

struct event_at {
    uint32_t rank, index;
};

/* The channel of the last message with such a peer and tag: most calls are like one before. */
struct last_channel {
    uint32_t comm, rank; /* rank KEY_NONE: none */
    int32_t peer, tag;
    uint32_t at;
    bool sending;
};
#define LAST_CHANNELS 64

struct matcher {
    const struct mpi_log *log;
    const struct call_clock *clock;
    struct call_matches matches;
    uint32_t *first;          /* number of each rank's first event; first[n_ranks]: number of all
                                 events */
    uint32_t *next;           /* the event after this one in its list */
    uint32_t *world;          /* world of each rank */
    struct key_table members; /* (world, rank number) */
    uint32_t *member_rank;    /* by number of member: index in the log */
    struct key_table channel_keys;
    struct channel *channels; /* by number of key */
    struct last_channel last[LAST_CHANNELS];
    size_t n_channels, channel_capacity;
    int error;
};

/* The passes of matching, in this order. -ENOMEM. */
int call_match_messages(struct matcher *m);
int call_match_away(struct matcher *m, uint32_t rank);
int call_match_groups(struct matcher *m);
int call_match_windows(struct matcher *m);
int call_match_epochs(struct matcher *m);
int call_match_locks(struct matcher *m);
void call_match_probes(struct matcher *m, uint32_t rank);
int call_match_requests(struct matcher *m, uint32_t rank);
void call_match_parts(struct matcher *m, uint32_t rank);

/* The index in the log of a peer, or -1. */
static inline int32_t call_match_peer(const struct matcher *m, uint32_t rank, int32_t peer);

/* Adds a signal. Without memory: m->error. They are sorted once all are there. */
void call_match_signal(struct matcher *m, struct event_at sent, struct event_at received,
                       int64_t bytes);
void call_match_sort_signals(struct matcher *m);

/* Senders and receivers of neighbourhood collectives (call_match_neighbour.c). */
struct neighbours;
int neighbours_new(struct matcher *m, struct neighbours **ret_neighbours);
void neighbours_free(struct neighbours *neighbours);
/* Matches one neighbourhood call of a communicator's members, given the list of their events. */
void neighbours_resolve(struct neighbours *neighbours, struct list events);

/* Index of the event at which a request was started, or SIZE_MAX. */
size_t call_match_start(const struct mpi_rank *r, const struct mpi_event *request);

/* Whether the rank's last events up to MPI_Finalize are there, so that calls shared with others can
 * be counted from the end.
 */
bool call_match_has_end(const struct matcher *m, uint32_t rank);

static inline struct key member_key(uint32_t world, int32_t rank) {
    return (struct key){{world, (uint32_t)rank, 0, 0, KEY_MEMBER}};
}

static inline int32_t call_match_peer(const struct matcher *m, uint32_t rank, int32_t peer) {
    uint32_t at = peer < 0 ? KEY_NONE : key_find(&m->members, member_key(m->world[rank], peer));
    return at == KEY_NONE ? -1 : (int32_t)m->member_rank[at];
}

static inline void *array_room(void *items, size_t n, size_t *capacity, size_t size) {
    if (n < *capacity)
        return items;
    size_t more = *capacity ? 2 * *capacity : 64;
    void *moved = reallocarray(items, more, size);
    if (moved)
        *capacity = more;
    return moved;
}

static inline void list_append(struct matcher *m, struct list *list, uint32_t event) {
    m->next[event] = KEY_NONE;
    if (list->head == KEY_NONE)
        list->head = event;
    else
        m->next[list->tail] = event;
    list->tail = event;
}

static inline struct event_at locate(const struct matcher *m, uint32_t event) {
    uint32_t low = 0, high = (uint32_t)m->log->n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (m->first[middle] <= event)
            low = middle;
        else
            high = middle;
    }
    return (struct event_at){low, event - m->first[low]};
}

static inline const struct mpi_event *event_of(const struct matcher *m, struct event_at at) {
    return &m->log->ranks[at.rank].events[at.index];
}

static inline struct call_need *need_of(struct matcher *m, struct event_at at) {
    return &m->matches.needs[at.rank][at.index];
}

#endif
