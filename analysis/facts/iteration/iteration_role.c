/* SPDX-License-Identifier: MIT */
/*
 * Roles by the calls of ranks: two ranks have the same role if at least half of their calls are
 * alike, and at least half of the places that they call from. Both are required, since a server and
 * its workers may spend nearly all calls in one shared routine. Tests and probes do not count,
 * since their number depends on waiting. The root of collectives has its own role, unless it
 * computes about as much as the others: then it is a worker that happens to be the root.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/facts/iteration/iteration_private.h"

#define ALIKE 0.5
#define PLACE_MIN 8  /* calls from a place: fewer are preparation */
#define COMPUTES 3.0 /* ratio of two ranks' shares of computing, at most */

struct mix {
    struct key_table keys;
    uint32_t *counts; /* [rank * keys + key] */
    double *totals;
    double *computing; /* share of the time between its first and last call */
    bool roots;        /* whether being the root counts as a difference */
};

static struct key place_of(bool roots, const struct mpi_log *log, const struct mpi_rank *rank,
                           const struct mpi_event *event) {
    enum mpi_group_need need = mpi_event_function(log, event)->need;
    bool rooted = roots && (need == MPI_NEED_ROOT || need == MPI_NEED_GATHERED);
    return (struct key){{event->function, event->site, rooted && event->peer == rank->rank}};
}

#define SEEN 64

/* The places of calls seen last: most calls are like one before. */
struct seen {
    uint32_t site, place; /* place: its number; KEY_NONE: empty */
    uint16_t function;
    bool own; /* its peer is the rank itself */
};

static void forget_seen(struct seen seen[SEEN]) {
    for (size_t k = 0; k < SEEN; k++)
        seen[k].place = KEY_NONE;
}

static struct seen *place_seen_at(struct seen *seen, const struct mpi_event *event, bool own) {
    return &seen[(event->site ^ event->site >> 7 ^ event->function * 5u ^ own) % SEEN];
}

static bool is_seen(const struct seen *last, const struct mpi_event *event, bool own) {
    return last->place != KEY_NONE && last->site == event->site &&
           last->function == event->function && last->own == own;
}

/* Numbers the places of calls, in the order in which they are met. */
static int number_places(const struct mpi_log *log, struct mix *mix) {
    for (size_t r = 0; r < log->n; r++) {
        struct seen seen[SEEN];
        forget_seen(seen);
        for (size_t i = 0; i < log->ranks[r].n; i++) {
            const struct mpi_event *event = &log->ranks[r].events[i];
            bool own = event->peer == log->ranks[r].rank;
            struct seen *last = place_seen_at(seen, event, own);
            if (!iteration_counts_call(log, event) || is_seen(last, event, own))
                continue;
            uint32_t at = key_add(&mix->keys, place_of(mix->roots, log, &log->ranks[r], event));
            if (at == KEY_NONE)
                return -ENOMEM;
            *last = (struct seen){event->site, at, event->function, own};
        }
    }
    return 0;
}

static int count_places(const struct mpi_log *log, struct mix *mix) {
    mix->counts = calloc(log->n * mix->keys.n + 1, sizeof *mix->counts);
    mix->totals = calloc(log->n + 1, sizeof *mix->totals);
    if (!mix->counts || !mix->totals)
        return -ENOMEM;
    for (size_t r = 0; r < log->n; r++) {
        struct seen seen[SEEN];
        forget_seen(seen);
        for (size_t i = 0; i < log->ranks[r].n; i++) {
            const struct mpi_event *event = &log->ranks[r].events[i];
            bool own = event->peer == log->ranks[r].rank;
            struct seen *last = place_seen_at(seen, event, own);
            if (!iteration_counts_call(log, event))
                continue;
            if (!is_seen(last, event, own))
                *last = (struct seen){
                    event->site,
                    key_find(&mix->keys, place_of(mix->roots, log, &log->ranks[r], event)),
                    event->function, own};
            mix->counts[r * mix->keys.n + last->place]++;
            mix->totals[r]++;
        }
    }
    return 0;
}

static bool play_alike(const struct mix *mix, size_t a, size_t b) {
    const uint32_t *x = mix->counts + a * mix->keys.n, *y = mix->counts + b * mix->keys.n;
    double shared = 0;
    size_t both = 0, either = 0;
    if (mix->totals[a] == 0 || mix->totals[b] == 0)
        return mix->totals[a] == mix->totals[b];
    for (size_t k = 0; k < mix->keys.n; k++) {
        double p = x[k] / mix->totals[a], q = y[k] / mix->totals[b];
        shared += p < q ? p : q;
        both += x[k] >= PLACE_MIN && y[k] >= PLACE_MIN;
        either += x[k] >= PLACE_MIN || y[k] >= PLACE_MIN;
    }
    return shared >= ALIKE && (double)both >= ALIKE * (double)either;
}

/* CPU time between calls where it was measured; shorter gaps count whole. */
static double computing_of(const struct mpi_rank *rank) {
    int64_t last = INT64_MIN, first = INT64_MAX;
    double sum = 0;
    for (size_t i = 0; i < rank->n; i++) {
        const struct mpi_event *event = &rank->events[i];
        if (!mpi_event_is_call(event))
            continue;
        int64_t gap = last == INT64_MIN ? 0 : event->enter_ns - last;
        if (event->flags & MPI_FLAG_HAS_GAP_CPU)
            sum += (double)event->gap_cpu_ns;
        else if (gap > 0 && gap < MPI_LONG_NS)
            sum += (double)gap;
        first = event->enter_ns < first ? event->enter_ns : first;
        last = event->exit_ns > last ? event->exit_ns : last;
    }
    return last > first ? sum / (double)(last - first) : 0;
}

static bool compute_alike(const struct mix *mix, size_t a, size_t b) {
    double x = mix->computing[a], y = mix->computing[b];
    return x > 0 && y > 0 && x <= COMPUTES * y && y <= COMPUTES * x;
}

static int mix_make(const struct mpi_log *log, bool roots, struct mix *mix) {
    *mix = (struct mix){.roots = roots};
    mix->computing = calloc(log->n + 1, sizeof *mix->computing);
    int result = mix->computing ? number_places(log, mix) : -ENOMEM;
    for (size_t r = 0; result == 0 && r < log->n; r++)
        mix->computing[r] = computing_of(&log->ranks[r]);
    return result < 0 ? result : count_places(log, mix);
}

static void mix_release(struct mix *mix) {
    key_table_release(&mix->keys);
    free(mix->counts);
    free(mix->totals);
    free(mix->computing);
}

static bool same_role(const struct mix *strict, const struct mix *loose, size_t a, size_t b) {
    return play_alike(strict, a, b) || (play_alike(loose, a, b) && compute_alike(loose, a, b));
}

int call_roles(const struct mpi_log *log, int *roles) {
    struct mix strict = {.counts = NULL}, loose = {.counts = NULL};
    size_t *first = calloc(log->n + 1, sizeof *first), n = 0;
    int result = first ? mix_make(log, true, &strict) : -ENOMEM;
    if (result == 0)
        result = mix_make(log, false, &loose);
    for (size_t r = 0; result == 0 && r < log->n; r++) {
        size_t role = 0;
        while (role < n && !same_role(&strict, &loose, first[role], r))
            role++;
        if (role == n)
            first[n++] = r;
        roles[r] = (int)role;
    }
    mix_release(&strict);
    mix_release(&loose);
    free(first);
    return result;
}
