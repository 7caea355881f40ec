/* SPDX-License-Identifier: MIT */
/*
 * Window epochs of post, start, complete and wait. The parts of each MPI_Win_post name the ranks
 * that may access the window, the parts of each MPI_Win_start the ranks whose windows it will
 * access: the k-th post of one rank for another belongs to the k-th start of that one for the
 * first. MPI may wait for the post in the start, or only in the complete; it waited in the start if
 * the post came before the start ended. The wait, or the test that ends the epoch, needs the
 * complete of all.
 */
#include <errno.h>
#include <string.h>

#include "analysis/facts/calls/call_match_private.h"

struct pair { /* a rank that exposes its window, and one that accesses it */
    struct list posts, starts;
};

struct part {
    uint32_t call,
        end; /* event indexes in its rank: the call, and the end of its epoch; KEY_NONE */
};

struct epochs {
    struct matcher *m;
    struct key_table keys; /* (communicator, world, exposing rank, accessing rank) */
    struct pair *pairs;
    size_t capacity;
    struct part *parts;                    /* by number of event */
    int post, start, complete, wait, test; /* numbers of functions in the log; -1: not in it */
};

static int function_named(const struct mpi_log *log, const char *name) {
    for (size_t f = 0; f < log->n_functions; f++)
        if (strcmp(log->names[f], name) == 0)
            return (int)f;
    return -1;
}

/* ---- whose calls belong together ---- */

static struct pair *pair_of(struct epochs *x, uint32_t rank, const struct mpi_event *e) {
    int32_t peer = call_match_peer(x->m, rank, e->peer);
    if (peer < 0 || e->comm == MPI_COMM_NONE)
        return NULL;
    bool posts = e->function == x->post;
    uint32_t exposes = posts ? rank : (uint32_t)peer, accesses = posts ? (uint32_t)peer : rank;
    struct key key = {{e->comm, x->m->world[rank], exposes, accesses, KEY_EPOCHS}};
    struct pair *pairs = array_room(x->pairs, x->keys.n, &x->capacity, sizeof *pairs);
    size_t before = x->keys.n;
    x->pairs = pairs ? pairs : x->pairs;
    uint32_t at = pairs ? key_add(&x->keys, key) : KEY_NONE;
    if (at == KEY_NONE) {
        x->m->error = -ENOMEM;
        return NULL;
    }
    if (at == before)
        x->pairs[at] = (struct pair){LIST_EMPTY, LIST_EMPTY};
    return &x->pairs[at];
}

static bool is_part(const struct epochs *x, const struct mpi_event *e) {
    return e->flags & MPI_FLAG_PART && (e->function == x->post || e->function == x->start);
}

static void collect_parts(struct epochs *x, uint32_t rank) {
    const struct mpi_rank *r = &x->m->log->ranks[rank];
    for (uint32_t i = 0; i < r->n; i++) {
        struct pair *pair = is_part(x, &r->events[i]) ? pair_of(x, rank, &r->events[i]) : NULL;
        if (pair)
            list_append(x->m, r->events[i].function == x->post ? &pair->posts : &pair->starts,
                        x->m->first[rank] + i);
    }
}

#define WINDOWS_MAX 64 /* of a rank with open epochs; ranks with more are not examined */

struct ends { /* ends of the epochs that are open, going backwards from the end of the run */
    uint32_t comm[WINDOWS_MAX], completes[WINDOWS_MAX], waits[WINDOWS_MAX];
    size_t n;
};

static size_t window_at(struct ends *ends, uint32_t comm) {
    size_t w = 0;
    while (w < ends->n && ends->comm[w] != comm)
        w++;
    if (w < ends->n || w == WINDOWS_MAX)
        return w;
    ends->comm[w] = comm;
    ends->completes[w] = ends->waits[w] = KEY_NONE;
    return ends->n++;
}

/* A test that did not end the epoch has no tag. */
static bool ends_exposure(const struct epochs *x, const struct mpi_event *e) {
    return e->function == x->wait ||
           (e->function == x->test && e->tag >= 0 && !(e->flags & MPI_FLAG_FOLDED));
}

static bool is_epoch_call(const struct epochs *x, const struct mpi_event *e) {
    return mpi_event_is_call(e) && !(e->flags & MPI_FLAG_FAILED) &&
           (e->function == x->post || e->function == x->start || e->function == x->complete ||
            ends_exposure(x, e));
}

/* Goes backwards: a call stands behind its parts, and the end of an epoch behind its begin. */
static void find_ends(struct epochs *x, uint32_t rank) {
    const struct mpi_rank *r = &x->m->log->ranks[rank];
    struct ends ends = {.n = 0};
    uint32_t call = KEY_NONE;
    for (uint32_t i = (uint32_t)r->n; i-- > 0;) {
        const struct mpi_event *e = &r->events[i];
        bool own = is_epoch_call(x, e), part = is_part(x, e);
        size_t w = own || part ? window_at(&ends, e->comm) : WINDOWS_MAX;
        if (w == WINDOWS_MAX)
            continue;
        if (own)
            call = i;
        if (own && e->function == x->complete)
            ends.completes[w] = i;
        else if (own && ends_exposure(x, e))
            ends.waits[w] = i;
        if (part)
            x->parts[x->m->first[rank] + i] =
                (struct part){call, e->function == x->post ? ends.waits[w] : ends.completes[w]};
    }
}

/* ---- what they need ---- */

static void need(struct epochs *x, struct event_at sent, struct event_at received, bool may_leave) {
    struct call_need *need = need_of(x->m, received);
    int64_t came = event_of(x->m, sent)->enter_ns;
    need->asked = true;
    need->may_leave = may_leave;
    call_match_signal(x->m, sent, received, 0);
    if (need->ready_ns != VALUE_ABSENT && came <= need->ready_ns)
        return;
    need->ready_ns = came;
    need->who = (int32_t)sent.rank;
}

/* Whether what one call received at its end can have been sent by another. */
static bool in_time(const struct matcher *m, struct event_at sent, struct event_at received) {
    int64_t bound = call_clock_bound(m->clock, m->log->ranks[sent.rank].host,
                                     m->log->ranks[received.rank].host);
    return bound == INT64_MAX ||
           event_of(m, received)->exit_ns + bound >= event_of(m, sent)->enter_ns;
}

static bool is_lost(const struct matcher *m, struct event_at at) {
    return event_of(m, at)->exit_ns >= m->log->ranks[at.rank].lost_ns;
}

/* Returns false if these do not belong together; then what follows does not either. */
static bool match(struct epochs *x, uint32_t post_part, uint32_t start_part) {
    struct matcher *m = x->m;
    struct event_at post = locate(m, post_part), start = locate(m, start_part);
    const struct part *p = &x->parts[post_part], *s = &x->parts[start_part];
    if (is_lost(m, post) || is_lost(m, start) || p->call == KEY_NONE || s->call == KEY_NONE)
        return false;
    struct event_at posted = {post.rank, p->call}, started = {start.rank, s->call};
    struct event_at completed = {start.rank, s->end}, waited = {post.rank, p->end};
    if (in_time(m, posted, started))
        need(x, posted, started, true);
    else if (s->end != KEY_NONE && in_time(m, posted, completed))
        need(x, posted, completed, true);
    else
        return s->end == KEY_NONE;
    if (s->end == KEY_NONE || p->end == KEY_NONE || !in_time(m, completed, waited))
        return true;
    need(x, completed, waited, false);
    if (mpi_event_function(m->log, event_of(m, waited))->kind == MPI_KIND_TEST)
        need_of(m, waited)->since_ns = event_of(m, posted)->enter_ns;
    return true;
}

static void match_pair(struct epochs *x, const struct pair *pair) {
    uint32_t p = pair->posts.head, s = pair->starts.head;
    while (p != KEY_NONE && s != KEY_NONE && match(x, p, s)) {
        p = x->m->next[p];
        s = x->m->next[s];
    }
}

/* A rank that had posted before the epoch began is not waited for at its end. */
static void ask(struct epochs *x, uint32_t rank) {
    const struct mpi_rank *r = &x->m->log->ranks[rank];
    for (uint32_t i = 0; i < r->n; i++)
        if (is_epoch_call(x, &r->events[i]) && r->events[i].function != x->post)
            x->m->matches.needs[rank][i].asked = true;
}

int call_match_epochs(struct matcher *m) {
    const struct mpi_log *log = m->log;
    struct epochs x = {.m = m,
                       .post = function_named(log, "MPI_Win_post"),
                       .start = function_named(log, "MPI_Win_start"),
                       .complete = function_named(log, "MPI_Win_complete"),
                       .wait = function_named(log, "MPI_Win_wait"),
                       .test = function_named(log, "MPI_Win_test")};
    if (x.post < 0 || x.start < 0)
        return 0;
    x.parts = malloc(((size_t)m->first[log->n] + 1) * sizeof *x.parts);
    m->error = x.parts ? m->error : -ENOMEM;
    for (uint32_t r = 0; m->error == 0 && r < log->n; r++) {
        ask(&x, r);
        collect_parts(&x, r);
        find_ends(&x, r);
    }
    for (size_t k = 0; m->error == 0 && k < x.keys.n; k++)
        match_pair(&x, &x.pairs[k]);
    key_table_release(&x.keys);
    free(x.pairs);
    free(x.parts);
    return m->error;
}
