/* SPDX-License-Identifier: MIT */
/*
 * Back from the last exit. At any moment the path is in one rank; where that one had just been
 * waiting, the path goes on in the rank it waited for, at the time that rank made it ready.
 *
 * Clocks that are off can let two ranks wait for each other at the same moment. The path then stays
 * where it is until before that wait: it always ends.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/critical_private.h"
#include "analysis/series.h"

struct walker {
    const struct mpi_log *log;
    struct budget_wait **waits; /* by rank of the log */
    size_t *left;               /* those of a rank that begin before the present time */
    int64_t *begin_ns, *end_ns; /* of each rank's calls */
    struct critical_walk walk;
};

static int append(struct critical_walk *walk, size_t rank, int64_t begin, int64_t end) {
    if (end <= begin)
        return 0;
    if (walk->n[rank] == walk->capacity[rank]) {
        size_t more = walk->capacity[rank] ? 2 * walk->capacity[rank] : 16;
        struct window *items = reallocarray(walk->stretches[rank], more, sizeof *items);
        if (!items)
            return -ENOMEM;
        walk->stretches[rank] = items;
        walk->capacity[rank] = more;
    }
    walk->stretches[rank][walk->n[rank]++] = (struct window){begin, end};
    return 0;
}

/* The last wait of the rank that began before t; NULL: none. Only ever asked for earlier times. */
static const struct budget_wait *wait_before(struct walker *w, size_t rank, int64_t t) {
    while (w->left[rank] && w->waits[rank][w->left[rank] - 1].begin_ns >= t)
        w->left[rank]--;
    return w->left[rank] ? &w->waits[rank][w->left[rank] - 1] : NULL;
}

/* A rank whose last call ended latest, but not after t; SIZE_MAX: none. */
static size_t last_before(const struct walker *w, int64_t t) {
    size_t best = SIZE_MAX;
    for (size_t r = 0; r < w->log->n; r++)
        if (w->log->ranks[r].n && w->end_ns[r] <= t &&
            (best == SIZE_MAX || w->end_ns[r] > w->end_ns[best]))
            best = r;
    return best;
}

static int follow(struct walker *w) {
    size_t rank = last_before(w, INT64_MAX), standing = 0;
    int64_t t = TIME_SANE_NS;
    while (rank != SIZE_MAX) {
        const struct budget_wait *wait = wait_before(w, rank, t);
        int64_t from = wait ? (wait->end_ns < t ? wait->end_ns : t) : INT64_MIN;
        size_t next = wait ? (size_t)wait->who : last_before(w, w->begin_ns[rank]);
        if (!wait && next != SIZE_MAX)
            from = w->end_ns[next]; /* another program, before this one */
        standing = from < t ? 0 : standing + 1;
        if (standing > w->log->n) { /* round in a circle */
            from = wait ? wait->begin_ns : from;
            next = rank;
            standing = 0;
        }
        int result = append(&w->walk, rank, from < -TIME_SANE_NS ? -TIME_SANE_NS : from, t);
        if (result < 0)
            return result;
        t = from;
        rank = next;
    }
    return 0;
}

static void turn_round(struct critical_walk *walk) {
    for (size_t r = 0; r < walk->n_ranks; r++)
        for (size_t i = 0; i < walk->n[r] / 2; i++) {
            struct window *a = &walk->stretches[r][i], *b = &walk->stretches[r][walk->n[r] - 1 - i];
            struct window swap = *a;
            *a = *b;
            *b = swap;
        }
}

static int walker_init(struct walker *w, const struct mpi_log *log,
                       const struct call_matches *matches, const struct call_clock *clock) {
    size_t n = log->n;
    w->waits = calloc(n + 1, sizeof *w->waits);
    w->left = calloc(n + 1, sizeof *w->left);
    w->begin_ns = calloc(n + 1, sizeof *w->begin_ns);
    w->end_ns = calloc(n + 1, sizeof *w->end_ns);
    w->walk = (struct critical_walk){.stretches = calloc(n + 1, sizeof *w->walk.stretches),
                                     .n = calloc(n + 1, sizeof *w->walk.n),
                                     .capacity = calloc(n + 1, sizeof *w->walk.capacity),
                                     .n_ranks = n};
    if (!w->waits || !w->left || !w->begin_ns || !w->end_ns || !w->walk.stretches || !w->walk.n ||
        !w->walk.capacity)
        return -ENOMEM;
    for (size_t r = 0; r < n; r++) {
        const struct mpi_rank *rank = &log->ranks[r];
        w->begin_ns[r] = rank->n ? rank->events[0].enter_ns : 0;
        w->end_ns[r] = INT64_MIN;
        for (size_t i = 0; i < rank->n; i++)
            if (rank->events[i].exit_ns > w->end_ns[r])
                w->end_ns[r] = rank->events[i].exit_ns;
        struct budget_subject subject = {.begin_ns = w->begin_ns[r],
                                         .end_ns = w->end_ns[r],
                                         .log = log,
                                         .matches = matches,
                                         .log_rank = r,
                                         .clock = clock};
        int result = rank->n ? budget_waits(&subject, &w->waits[r], &w->left[r]) : 0;
        if (result < 0)
            return result;
    }
    return 0;
}

int critical_walk_make(const struct mpi_log *log, const struct call_matches *matches,
                       const struct call_clock *clock, struct critical_walk *ret_walk) {
    struct walker w = {.log = log};
    int result = walker_init(&w, log, matches, clock);
    if (result == 0)
        result = follow(&w);
    for (size_t r = 0; w.waits && r < log->n; r++)
        free(w.waits[r]);
    free(w.waits);
    free(w.left);
    free(w.begin_ns);
    free(w.end_ns);
    if (result < 0) {
        critical_walk_release(&w.walk);
        return result;
    }
    turn_round(&w.walk);
    *ret_walk = w.walk;
    return 0;
}

void critical_walk_release(struct critical_walk *walk) {
    for (size_t r = 0; walk->stretches && r < walk->n_ranks; r++)
        free(walk->stretches[r]);
    free(walk->stretches);
    free(walk->n);
    free(walk->capacity);
    *walk = (struct critical_walk){0};
}
