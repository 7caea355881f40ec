/* SPDX-License-Identifier: MIT */
/*
 * Follows the critical path back from the last exit. At any moment the path is in one rank. Where
 * that rank had just been waiting, the path continues in the rank that it waited for, at the time
 * when that rank ended the wait.
 *
 * Inaccurate clocks can let two ranks wait for each other at the same moment. Then the path stays
 * in its rank until before that wait, so it always ends.
 *
 * The path of one rank alone does not move on to another one for good: the awaited rank is charged
 * with what it did during the wait, then the path is back in the first rank.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/facts/iteration/phase.h"
#include "analysis/time/critical_private.h"

struct critical_walker {
    const struct mpi_log *log;
    struct budget_wait **waits; /* by rank of the log */
    size_t *n_waits;
    size_t *left;               /* by rank: number of waits that begin before the present time */
    int64_t *begin_ns, *end_ns; /* begin of each rank's first call, end of its last */
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

/* The last wait of the rank that began before t, or NULL. Each call asks for an earlier t. */
static const struct budget_wait *wait_before(struct critical_walker *w, size_t rank, int64_t t) {
    while (w->left[rank] && w->waits[rank][w->left[rank] - 1].begin_ns >= t)
        w->left[rank]--;
    return w->left[rank] ? &w->waits[rank][w->left[rank] - 1] : NULL;
}

/* The rank whose last call ended latest, but not after t; SIZE_MAX if there is none. */
static size_t last_before(const struct critical_walker *w, int64_t t) {
    size_t best = SIZE_MAX;
    for (size_t r = 0; r < w->log->n; r++)
        if (w->log->ranks[r].n && w->end_ns[r] <= t &&
            (best == SIZE_MAX || w->end_ns[r] > w->end_ns[best]))
            best = r;
    return best;
}

static int follow_path(struct critical_walker *w) {
    size_t rank = last_before(w, INT64_MAX), standing = 0;
    int64_t t = TIME_SANE_NS;
    while (rank != SIZE_MAX) {
        const struct budget_wait *wait = wait_before(w, rank, t);
        int64_t from = wait ? (wait->end_ns < t ? wait->end_ns : t) : INT64_MIN;
        size_t next = wait ? (size_t)wait->who : last_before(w, w->begin_ns[rank]);
        if (!wait && next != SIZE_MAX)
            from = w->end_ns[next]; /* another program, which ran before this one */
        standing = from < t ? 0 : standing + 1;
        if (standing > w->log->n) { /* the ranks wait for each other in a circle */
            from = wait ? wait->begin_ns : INT64_MIN;
            next = wait ? rank : SIZE_MAX;
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

static int walk_init(size_t n, struct critical_walk *walk) {
    *walk = (struct critical_walk){.stretches = calloc(n + 1, sizeof *walk->stretches),
                                   .n = calloc(n + 1, sizeof *walk->n),
                                   .capacity = calloc(n + 1, sizeof *walk->capacity),
                                   .n_ranks = n};
    return walk->stretches && walk->n && walk->capacity ? 0 : -ENOMEM;
}

/* Prepares a walk from the end. */
static int start(struct critical_walker *w) {
    for (size_t r = 0; r < w->log->n; r++)
        w->left[r] = w->n_waits[r];
    return walk_init(w->log->n, &w->walk);
}

static int finish(struct critical_walker *w, int result, struct critical_walk *ret_walk) {
    if (result < 0) {
        critical_walk_release(&w->walk);
        return result;
    }
    turn_round(&w->walk);
    *ret_walk = w->walk;
    w->walk = (struct critical_walk){0};
    return 0;
}

int critical_walk_make(struct critical_walker *w, struct critical_walk *ret_walk) {
    int result = start(w);
    return finish(w, result < 0 ? result : follow_path(w), ret_walk);
}

/* ---- one rank alone ---- */

#define DEPTH_MAX 8 /* longest chain of ranks that wait for each other */

struct levels {
    struct {
        size_t rank;
        int64_t begin_ns; /* it is charged back to here, then the level before goes on */
    } at[DEPTH_MAX];
    size_t n;
};

static bool is_asking(const struct levels *levels, size_t rank) {
    for (size_t i = 0; i < levels->n; i++)
        if (levels->at[i].rank == rank)
            return true;
    return false;
}

/* Continues in the rank it waited for since `from`. If that rank is on the chain already, the wait
 * itself is charged.
 */
static int descend(struct critical_walker *w, struct levels *levels, size_t who, int64_t from,
                   int64_t *t) {
    size_t rank = levels->at[levels->n - 1].rank;
    if (levels->n < DEPTH_MAX && who < w->log->n && w->log->ranks[who].n &&
        !is_asking(levels, who)) {
        levels->at[levels->n].rank = who;
        levels->at[levels->n++].begin_ns = from;
        return 0;
    }
    int result = append(&w->walk, rank, from, *t);
    *t = from;
    return result;
}

static int follow_one(struct critical_walker *w, size_t rank, struct window within) {
    struct levels levels = {.at = {{rank, within.begin_ns}}, .n = 1};
    int64_t t = within.end_ns;
    int result = 0;
    while (result == 0 && levels.n) {
        size_t at = levels.at[levels.n - 1].rank;
        int64_t begin = levels.at[levels.n - 1].begin_ns;
        if (t <= begin) {
            levels.n--;
            continue;
        }
        const struct budget_wait *wait = wait_before(w, at, t);
        int64_t from = wait && wait->end_ns > begin ? wait->end_ns : begin;
        if (from < t)
            result = append(&w->walk, at, from, t);
        t = from < t ? from : t;
        if (result == 0 && t > begin && wait)
            result = descend(w, &levels, (size_t)wait->who,
                             wait->begin_ns > begin ? wait->begin_ns : begin, &t);
    }
    return result;
}

int critical_walk_own(struct critical_walker *w, size_t rank, struct windows within,
                      struct critical_walk *ret_walk) {
    int result = start(w);
    for (size_t i = within.n; result == 0 && i > 0; i--)
        result = follow_one(w, rank, within.items[i - 1]);
    return finish(w, result, ret_walk);
}

/* Appends the part of a stretch outside the windows. */
static int append_outside(struct critical_walk *walk, size_t rank, struct window stretch,
                          struct windows within) {
    int result = 0;
    for (size_t i = 0; result == 0 && i < within.n; i++) {
        if (within.items[i].end_ns <= stretch.begin_ns)
            continue;
        if (within.items[i].begin_ns >= stretch.end_ns)
            break;
        result = append(walk, rank, stretch.begin_ns, within.items[i].begin_ns);
        stretch.begin_ns = within.items[i].end_ns;
    }
    return result < 0 ? result : append(walk, rank, stretch.begin_ns, stretch.end_ns);
}

int critical_walk_fill(struct critical_walk *walk, const struct critical_walk *other,
                       struct windows within) {
    for (size_t r = 0; r < walk->n_ranks; r++) {
        for (size_t i = 0; i < other->n[r]; i++) {
            int result = append_outside(walk, r, other->stretches[r][i], within);
            if (result < 0)
                return result;
        }
        if (walk->n[r])
            qsort(walk->stretches[r], walk->n[r], sizeof **walk->stretches, compare_windows);
    }
    return 0;
}

/* ---- walkers ---- */

static int walker_init(struct critical_walker *w, const struct call_matches *matches,
                       const struct call_clock *clock, const struct judge *judge) {
    size_t n = w->log->n;
    w->waits = calloc(n + 1, sizeof *w->waits);
    w->n_waits = calloc(n + 1, sizeof *w->n_waits);
    w->left = calloc(n + 1, sizeof *w->left);
    w->begin_ns = calloc(n + 1, sizeof *w->begin_ns);
    w->end_ns = calloc(n + 1, sizeof *w->end_ns);
    if (!w->waits || !w->n_waits || !w->left || !w->begin_ns || !w->end_ns)
        return -ENOMEM;
    for (size_t r = 0; r < n; r++) {
        const struct mpi_rank *rank = &w->log->ranks[r];
        w->begin_ns[r] = rank->n ? rank->events[0].enter_ns : 0;
        w->end_ns[r] = INT64_MIN;
        for (size_t i = 0; i < rank->n; i++)
            if (rank->events[i].exit_ns > w->end_ns[r])
                w->end_ns[r] = rank->events[i].exit_ns;
        struct budget_subject subject = {.begin_ns = w->begin_ns[r],
                                         .end_ns = w->end_ns[r],
                                         .log = w->log,
                                         .matches = matches,
                                         .log_rank = r,
                                         .clock = clock,
                                         .judge = judge};
        int result = rank->n ? budget_waits(&subject, &w->waits[r], &w->n_waits[r]) : 0;
        if (result < 0)
            return result;
    }
    return 0;
}

int critical_walker_new(const struct mpi_log *log, const struct call_matches *matches,
                        const struct call_clock *clock, const struct judge *judge,
                        struct critical_walker **ret_walker) {
    struct critical_walker *w = calloc(1, sizeof *w);
    if (!w)
        return -ENOMEM;
    w->log = log;
    int result = walker_init(w, matches, clock, judge);
    if (result < 0)
        critical_walker_free(w);
    else
        *ret_walker = w;
    return result;
}

void critical_walker_free(struct critical_walker *w) {
    for (size_t r = 0; w && w->waits && r < w->log->n; r++)
        free(w->waits[r]);
    if (w) {
        free(w->waits);
        free(w->n_waits);
        free(w->left);
        free(w->begin_ns);
        free(w->end_ns);
    }
    free(w);
}

void critical_walk_release(struct critical_walk *walk) {
    for (size_t r = 0; walk->stretches && r < walk->n_ranks; r++)
        free(walk->stretches[r]);
    free(walk->stretches);
    free(walk->n);
    free(walk->capacity);
    *walk = (struct critical_walk){0};
}
