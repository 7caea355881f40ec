/* SPDX-License-Identifier: MIT */
/*
 * Locks of windows that exclude each other. A rank that asks for a lock held by another rank waits
 * until that rank releases it: in MPI_Win_lock, or in the first call that needs the lock. An
 * exclusive lock admits one rank: a call in an epoch cannot have finished before another rank's
 * unlock of the same lock began.
 */
#include <errno.h>
#include <string.h>

#include "analysis/facts/calls/call_match_private.h"

struct use {       /* an unlock, or a long call that needed the lock */
    uint32_t lock; /* number of the lock's key */
    bool exclusive;
    struct event_at at;
    int64_t enter_ns, exit_ns;
};

struct uses {
    struct use *items;
    size_t n, capacity;
};

struct locks {
    struct matcher *m;
    struct key_table keys;    /* (world, window, target rank) */
    struct key_table holders; /* (lock, rank) */
    unsigned char *exclusive; /* by number of holder: whether it holds, or asks for, the lock
                                 exclusively */
    size_t capacity;
    struct uses releases, waits;
    int lock, unlock; /* numbers of functions in the log; -1: not in it */
};

static void add_use(struct locks *x, struct uses *to, struct use use) {
    struct use *items = array_room(to->items, to->n, &to->capacity, sizeof *items);
    if (!items) {
        x->m->error = -ENOMEM;
        return;
    }
    to->items = items;
    to->items[to->n++] = use;
}

/* The number of the holder; KEY_NONE without memory. */
static uint32_t holder_of(struct locks *x, uint32_t lock, uint32_t rank) {
    unsigned char *exclusive =
        array_room(x->exclusive, x->holders.n, &x->capacity, sizeof *exclusive);
    size_t before = x->holders.n;
    x->exclusive = exclusive ? exclusive : x->exclusive;
    uint32_t at =
        exclusive ? key_add(&x->holders, (struct key){{lock, rank, 0, 0, KEY_HOLDER}}) : KEY_NONE;
    if (at == KEY_NONE)
        x->m->error = -ENOMEM;
    else if (at == before)
        x->exclusive[at] = 0;
    return at;
}

static bool concerns_a_lock(const struct locks *x, const struct mpi_event *e) {
    const struct mpi_function *f = mpi_event_function(x->m->log, e);
    return mpi_event_is_call(e) && e->peer >= 0 && e->comm != MPI_COMM_NONE &&
           !(e->flags & MPI_FLAG_FAILED) &&
           (e->function == x->lock || f->kind == MPI_KIND_RMA || f->completes);
}

static void collect_one(struct locks *x, uint32_t rank, uint32_t index) {
    const struct mpi_event *e = &x->m->log->ranks[rank].events[index];
    uint32_t lock = key_add(
        &x->keys, (struct key){{x->m->world[rank], e->comm, (uint32_t)e->peer, 0, KEY_LOCK}});
    uint32_t holder = lock == KEY_NONE ? KEY_NONE : holder_of(x, lock, rank);
    if (holder == KEY_NONE) {
        x->m->error = -ENOMEM;
        return;
    }
    if (e->function == x->lock)
        x->exclusive[holder] = (e->flags & MPI_FLAG_EXCLUSIVE) != 0;
    struct use use = {lock, x->exclusive[holder], {rank, index}, e->enter_ns, e->exit_ns};
    if (e->flags & MPI_FLAG_FOLDED)
        return;
    if (e->exit_ns - e->enter_ns >= MPI_LONG_NS)
        add_use(x, &x->waits, use);
    if (e->function == x->unlock)
        add_use(x, &x->releases, use);
}

static int compare_uses(const void *a, const void *b) {
    const struct use *x = a, *y = b;
    if (x->lock != y->lock)
        return x->lock < y->lock ? -1 : 1;
    if (x->enter_ns != y->enter_ns)
        return x->enter_ns < y->enter_ns ? -1 : 1;
    return x->at.rank != y->at.rank ? (x->at.rank < y->at.rank ? -1 : 1)
                                    : (x->at.index > y->at.index) - (x->at.index < y->at.index);
}

/* The number of releases, of that lock and of those before it in order, that had begun by t. */
static size_t begun_by(const struct uses *releases, uint32_t lock, int64_t t) {
    size_t low = 0, high = releases->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct use *use = &releases->items[middle];
        if (use->lock < lock || (use->lock == lock && use->enter_ns <= t))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#define TRIED_MAX                                                                                  \
    8 /* releases to look at: some are of ranks that share the lock, or the rank's own */

static void wait_for_release(struct locks *x, const struct use *wait) {
    size_t i = begun_by(&x->releases, wait->lock, wait->exit_ns);
    for (int tried = 0; i-- > 0 && tried < TRIED_MAX; tried++) {
        const struct use *release = &x->releases.items[i];
        struct call_need *need = need_of(x->m, wait->at);
        if (release->lock != wait->lock || release->enter_ns <= wait->enter_ns)
            return;
        if (release->at.rank == wait->at.rank || !(release->exclusive || wait->exclusive))
            continue;
        call_match_signal(x->m, release->at, wait->at, 0);
        need->asked = true;
        need->may_leave = false;
        need->ready_ns = release->enter_ns;
        need->who = (int32_t)release->at.rank;
        return;
    }
}

int call_match_locks(struct matcher *m) {
    struct locks x = {.m = m, .lock = -1, .unlock = -1};
    for (size_t f = 0; f < m->log->n_functions; f++) {
        x.lock = strcmp(m->log->names[f], "MPI_Win_lock") == 0 ? (int)f : x.lock;
        x.unlock = strcmp(m->log->names[f], "MPI_Win_unlock") == 0 ? (int)f : x.unlock;
    }
    if (x.lock < 0 || x.unlock < 0)
        return 0;
    for (uint32_t r = 0; m->error == 0 && r < m->log->n; r++)
        for (uint32_t i = 0; m->error == 0 && i < m->log->ranks[r].n; i++)
            if (concerns_a_lock(&x, &m->log->ranks[r].events[i]))
                collect_one(&x, r, i);
    if (x.releases.n)
        qsort(x.releases.items, x.releases.n, sizeof *x.releases.items, compare_uses);
    for (size_t i = 0; m->error == 0 && i < x.waits.n; i++)
        wait_for_release(&x, &x.waits.items[i]);
    key_table_release(&x.keys);
    key_table_release(&x.holders);
    free(x.exclusive);
    free(x.releases.items);
    free(x.waits.items);
    return m->error;
}
