/* SPDX-License-Identifier: MIT */
/*
 * Neighbourhood collectives. A call that makes a communicator with a topology records the
 * neighbours that the rank receives from; each call on it then needs only those. Without these
 * records nothing is known.
 *
 * A rank that left a call before a neighbour came received nothing from it (counts may be 0).
 */
#include <errno.h>

#include "analysis/facts/calls/call_match_private.h"

struct neighbours {
    struct matcher *m;
    struct key_table keys; /* (world, communicator, rank) */
    struct list *lists;    /* by number of key: the parts that name neighbours */
    size_t capacity;
    struct key_table told; /* (world, communicator): a member recorded neighbours */
    uint32_t *calls;       /* by rank of the log: its event in the present call; KEY_NONE */
};

static struct key key_of(const struct neighbours *n, uint32_t rank, uint32_t comm, bool all) {
    return (struct key){{n->m->world[rank], comm, all ? 0 : rank, all, KEY_NEIGHBOURS}};
}

static bool names_neighbour(const struct mpi_event *e, const struct mpi_function *f) {
    return e->flags & MPI_FLAG_PART && e->comm != MPI_COMM_NONE &&
           (f->kind == MPI_KIND_COMM ||
            (f->kind == MPI_KIND_COLLECTIVE_START && f->need == MPI_NEED_ALL));
}

static int add_neighbour(struct neighbours *n, uint32_t rank, uint32_t index) {
    uint32_t comm = n->m->log->ranks[rank].events[index].comm;
    struct list *lists = array_room(n->lists, n->keys.n, &n->capacity, sizeof *lists);
    size_t before = n->keys.n;
    n->lists = lists ? lists : n->lists;
    uint32_t at = lists ? key_add(&n->keys, key_of(n, rank, comm, false)) : KEY_NONE;
    if (at == KEY_NONE || key_add(&n->told, key_of(n, rank, comm, true)) == KEY_NONE)
        return -ENOMEM;
    if (at == before)
        n->lists[at] = (struct list)LIST_EMPTY;
    list_append(n->m, &n->lists[at], n->m->first[rank] + index);
    return 0;
}

int neighbours_new(struct matcher *m, struct neighbours **ret_neighbours) {
    struct neighbours *n = calloc(1, sizeof *n);
    if (!n)
        return -ENOMEM;
    n->m = m;
    n->calls = malloc((m->log->n + 1) * sizeof *n->calls);
    int result = n->calls ? 0 : -ENOMEM;
    for (uint32_t r = 0; result == 0 && r < m->log->n; r++) {
        const struct mpi_rank *rank = &m->log->ranks[r];
        n->calls[r] = KEY_NONE;
        for (uint32_t i = 0; result == 0 && i < rank->n; i++)
            if (names_neighbour(&rank->events[i], mpi_event_function(m->log, &rank->events[i])))
                result = add_neighbour(n, r, i);
    }
    if (result < 0)
        neighbours_free(n);
    else
        *ret_neighbours = n;
    return result;
}

void neighbours_free(struct neighbours *n) {
    if (!n)
        return;
    key_table_release(&n->keys);
    key_table_release(&n->told);
    free(n->lists);
    free(n->calls);
    free(n);
}

/* ---- one call ---- */

/* The call itself or, for a call that was only started, its request; KEY_NONE if that never
 * completed.
 */
static uint32_t completed_by(const struct matcher *m, struct event_at at) {
    const struct mpi_rank *r = &m->log->ranks[at.rank];
    const struct mpi_event *e = event_of(m, at);
    if (mpi_event_function(m->log, e)->kind != MPI_KIND_COLLECTIVE_START)
        return at.index;
    for (uint32_t i = at.index + 1; i < r->n && r->events[i].enter_ns == e->enter_ns; i++)
        if (r->events[i].flags & MPI_FLAG_REQUEST && r->events[i].function == e->function &&
            r->events[i].comm == e->comm && r->events[i].thread == e->thread)
            return i;
    return KEY_NONE;
}

/* Whether a member waited, or may have waited, for a neighbour in the call that ended at `end`. */
static bool may_need(const struct matcher *m, struct event_at at, struct event_at from,
                     uint32_t end) {
    int64_t bound =
        call_clock_bound(m->clock, m->log->ranks[at.rank].host, m->log->ranks[from.rank].host);
    return bound == INT64_MAX ||
           m->log->ranks[at.rank].events[end].exit_ns + bound >= event_of(m, from)->enter_ns;
}

static void need_one(struct neighbours *n, struct event_at at, uint32_t end, int32_t peer,
                     int64_t bytes) {
    int32_t q = call_match_peer(n->m, at.rank, peer);
    struct call_need *need = need_of(n->m, at);
    if (q < 0 || n->calls[q] == KEY_NONE) {
        need->ready_ns = VALUE_ABSENT; /* a neighbour that is not in the log */
        need->who = -1;
        return;
    }
    struct event_at from = {(uint32_t)q, n->calls[q]};
    int64_t came = event_of(n->m, from)->enter_ns;
    if (q == (int32_t)at.rank || end == KEY_NONE || !may_need(n->m, at, from, end))
        return;
    call_match_signal(n->m, from, (struct event_at){at.rank, end}, bytes);
    if (need->ready_ns != VALUE_ABSENT && (need->who < 0 || came > need->ready_ns)) {
        need->ready_ns = came;
        need->who = q;
    }
}

static uint32_t count(const struct matcher *m, uint32_t event) {
    uint32_t n = 0;
    for (; event != KEY_NONE; event = m->next[event])
        n++;
    return n;
}

static void need_neighbours(struct neighbours *n, struct event_at at) {
    const struct mpi_event *e = event_of(n->m, at);
    uint32_t key = key_find(&n->keys, key_of(n, at.rank, e->comm, false));
    uint32_t part = key == KEY_NONE ? KEY_NONE : n->lists[key].head;
    uint32_t end = completed_by(n->m, at), all = count(n->m, part);
    need_of(n->m, at)->ready_ns = e->enter_ns;
    for (; part != KEY_NONE; part = n->m->next[part])
        need_one(n, at, end, event_of(n->m, locate(n->m, part))->peer, e->bytes / all);
}

void neighbours_resolve(struct neighbours *n, struct list events) {
    struct matcher *m = n->m;
    if (events.head == KEY_NONE)
        return;
    struct event_at first = locate(m, events.head);
    if (key_find(&n->told, key_of(n, first.rank, event_of(m, first)->comm, true)) == KEY_NONE)
        return;
    for (uint32_t i = events.head; i != KEY_NONE; i = m->next[i])
        n->calls[locate(m, i).rank] = locate(m, i).index;
    for (uint32_t i = events.head; i != KEY_NONE; i = m->next[i])
        need_neighbours(n, locate(m, i));
    for (uint32_t i = events.head; i != KEY_NONE; i = m->next[i])
        n->calls[locate(m, i).rank] = KEY_NONE;
}
