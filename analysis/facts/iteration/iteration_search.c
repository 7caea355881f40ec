/* SPDX-License-Identifier: MIT */
/*
 * Searches the loop of one rank in its MPI calls.
 *
 * Sizes may tell calls apart (a model streamed in pieces), or may vary about a power of two and
 * hide a loop (lists of neighbours). This is not known beforehand, so both views are tried. Both
 * are compared in the time between the first and last end of a round in either: the view wins in
 * which rounds with the loop's number of calls cover more of it. If both cover about as much, the
 * view with sizes wins, since it tells more.
 *
 * Tests and probes are left out: their number, and which of them finds something, depends on
 * waiting. If the order of a rank's calls depends on waiting, too (a server), the calls with one of
 * its peers still have an order.
 */
#include "analysis/facts/iteration/iteration_search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/stats.h"

/* ---- signatures ---- */

/* In the order in which they are tried. */
static const struct call_view views[] = {{.bytes = true, .peer = true},
                                         {.bytes = true},
                                         {.bytes = false},
                                         {.bytes = true, .one_peer = true},
                                         {.bytes = false, .one_peer = true},
                                         {.bytes = true, .collectives = true}};
#define VIEWS (sizeof views / sizeof *views)

static int role_of_peer(const struct call_search *search, int peer) {
    size_t low = 0, high = search->log->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (search->log->ranks[middle].rank < peer)
            low = middle + 1;
        else
            high = middle;
    }
    return low < search->log->n && search->log->ranks[low].rank == peer ? search->roles[low] : -1;
}

static unsigned log2_of(int64_t bytes) {
    unsigned n = 0;
    while (bytes > 0) {
        bytes >>= 1;
        n++;
    }
    return n;
}

static uint64_t mix_in(uint64_t hash, uint64_t word) {
    uint64_t state = hash ^ word;
    return stats_random(&state);
}

static uint64_t signature_of(const struct call_search *search, const struct mpi_event *event,
                             struct call_view view) {
    uint64_t hash = mix_in(1, event->function);
    hash = mix_in(hash, event->comm);
    bool named = view.peer && !(event->flags & MPI_FLAG_WILDCARD);
    hash = mix_in(hash, (uint64_t)(named ? event->peer + 1 : ~role_of_peer(search, event->peer)));
    hash = mix_in(hash, view.bytes ? log2_of(event->bytes) : 0);
    return mix_in(hash, event->site);
}

static bool is_in_view(const struct call_search *search, const struct rank_search *rank,
                       const struct mpi_event *event, struct call_view view) {
    return iteration_counts_call(search->log, event) && event->thread == rank->thread &&
           (!view.one_peer || event->peer == rank->peer) &&
           (!view.collectives || mpi_event_function(search->log, event)->need != MPI_NEED_NOBODY);
}

#define SEEN 64 /* calls seen last, with their signatures: most calls are like one before */

struct seen {
    const struct mpi_event *event; /* NULL: none */
    uint64_t signature;
};

static bool are_alike(const struct mpi_event *a, const struct mpi_event *b) {
    return a->function == b->function && a->site == b->site && a->comm == b->comm &&
           a->peer == b->peer && a->bytes == b->bytes &&
           ((a->flags ^ b->flags) & MPI_FLAG_WILDCARD) == 0;
}

static struct seen *signature_seen_at(struct seen *seen, const struct mpi_event *e) {
    uint64_t bytes = (uint64_t)e->bytes;
    return &seen[(e->site ^ e->site >> 7 ^ e->function * 5u ^ (uint32_t)e->peer * 3u ^ bytes ^
                  bytes >> 8) %
                 SEEN];
}

/* Notes a signature that was computed, and whether one without sizes stands for several with them.
 * -ENOMEM.
 */
static int note_sizes(const struct call_search *search, struct rank_search *rank,
                      const struct mpi_event *event, uint64_t with, uint64_t **ret_with,
                      size_t *ret_room) {
    struct call_view view = rank->view;
    view.bytes = false;
    uint64_t without = signature_of(search, event, view);
    uint32_t at =
        key_add(&rank->without_sizes, (struct key){{(uint32_t)without, (uint32_t)(without >> 32)}});
    if (at == KEY_NONE)
        return -ENOMEM;
    if (at >= *ret_room) {
        size_t more = 2 * *ret_room + 64;
        uint64_t *grown = reallocarray(*ret_with, more, sizeof *grown);
        if (!grown)
            return -ENOMEM;
        memset(grown + *ret_room, 0, (more - *ret_room) * sizeof *grown);
        *ret_with = grown;
        *ret_room = more;
    }
    rank->sizes_tell |= (*ret_with)[at] && (*ret_with)[at] != with;
    (*ret_with)[at] = with;
    return 0;
}

static int take_calls(const struct call_search *search, struct rank_search *rank) {
    struct call_view view = rank->view;
    struct loop_call *items = realloc(rank->calls.items, (rank->rank->n + 1) * sizeof *items);
    struct seen seen[SEEN] = {{NULL, 0}};
    uint64_t *with = NULL;
    size_t room = 0;
    int result = items ? 0 : -ENOMEM;
    if (!items)
        return -ENOMEM;
    rank->calls = (struct loop_calls){.items = items};
    rank->sizes_tell = false;
    for (size_t i = 0; result == 0 && i < rank->rank->n; i++) {
        const struct mpi_event *event = &rank->rank->events[i];
        if (!is_in_view(search, rank, event, view))
            continue;
        struct seen *last = signature_seen_at(seen, event);
        if (!last->event || !are_alike(last->event, event)) {
            *last = (struct seen){event, signature_of(search, event, view)};
            if (view.bytes && !rank->sizes_tell)
                result = note_sizes(search, rank, event, last->signature, &with, &room);
        }
        items[rank->calls.n++] =
            (struct loop_call){last->signature, event->enter_ns, event->exit_ns};
    }
    free(with);
    key_table_release(&rank->without_sizes);
    return result;
}

/* ---- one rank ---- */

#define THREADS_MAX 64

static uint16_t main_thread(const struct call_search *search, const struct mpi_rank *rank) {
    size_t counts[THREADS_MAX] = {0}, most = 0;
    for (size_t i = 0; i < rank->n; i++)
        if (rank->events[i].thread < THREADS_MAX &&
            iteration_counts_call(search->log, &rank->events[i]))
            counts[rank->events[i].thread]++;
    for (size_t t = 1; t < THREADS_MAX; t++)
        most = counts[t] > counts[most] ? t : most;
    return (uint16_t)most;
}

/* Boyer and Moore's vote would need a majority, so this counts the calls with each peer. */
static int busiest_peer(const struct call_search *search, const struct mpi_rank *rank,
                        int *ret_peer) {
    uint32_t *counts = calloc(search->log->n + 1, sizeof *counts);
    size_t best = 0;
    *ret_peer = MPI_NO_PEER;
    if (!counts)
        return -ENOMEM;
    for (size_t i = 0; i < rank->n; i++) {
        const struct mpi_event *event = &rank->events[i];
        if (iteration_counts_call(search->log, event) && event->peer >= 0 &&
            (size_t)event->peer < search->log->n && event->peer != rank->rank &&
            mpi_event_function(search->log, event)->need == MPI_NEED_NOBODY)
            counts[event->peer]++;
    }
    for (size_t p = 0; p < search->log->n; p++)
        if (counts[p] > counts[best] || (p == 0 && counts[p])) {
            best = p;
            *ret_peer = (int)p;
        }
    free(counts);
    return 0;
}

static double median_period(const int64_t *ends, size_t n) {
    double *periods = malloc((n + 1) * sizeof *periods);
    for (size_t i = 1; periods && i < n; i++)
        periods[i - 1] = (double)(ends[i] - ends[i - 1]);
    double median = periods && n > 1 ? stats_median(periods, n - 1) : NAN;
    free(periods);
    return median;
}

int rank_search_cut(struct rank_search *rank, struct loop_anchor anchor) {
    int64_t *ends = realloc(rank->ends, (rank->calls.n + 1) * sizeof *ends);
    if (!ends)
        return -ENOMEM;
    rank->ends = ends;
    rank->anchor = anchor;
    rank->n_ends = loop_anchor_ends(&rank->calls, &rank->loop, anchor, ends);
    double period = median_period(ends, rank->n_ends);
    rank->period_ns = rank->n_ends > LOOP_REPEATS && period > 0 ? period : 0;
    return 0;
}

/* Searches one view; target_ns > 0: only for a period of about that. */
static int search_view(const struct call_search *search, struct rank_search *rank,
                       double target_ns) {
    struct loop_anchor anchor = {0};
    rank->period_ns = 0;
    rank->n_ends = 0;
    int result = take_calls(search, rank);
    if (result == 0)
        result = loop_find(&rank->calls, target_ns, &rank->loop);
    if (result == 0 && rank->loop.lag)
        result = loop_anchor_find(&rank->calls, &rank->loop, &anchor);
    return result == 0 && anchor.length ? rank_search_cut(rank, anchor) : result;
}

/* ---- with sizes or without ---- */

#define WHOLE_ROUND 1.5 /* lags: a round with more calls lacks an end inside */
#define MORE 0.02       /* of the time covered: less may be chance */

/* The share of [begin, end) in rounds with a lag of calls. Their times do not count: on busy
 * machines they may be anything.
 */
static double covered(const struct rank_search *rank, int64_t begin_ns, int64_t end_ns) {
    double sum = 0;
    size_t c = 0;
    for (size_t i = 0; i < rank->n_ends; i++) {
        size_t first = c;
        while (c < rank->calls.n && rank->calls.items[c].exit_ns <= rank->ends[i])
            c++;
        if (i && (double)(c - first) <= WHOLE_ROUND * (double)rank->loop.lag)
            sum += (double)(rank->ends[i] - rank->ends[i - 1]);
    }
    return sum / (double)(end_ns - begin_ns);
}

/* Both views must have found a loop. */
static bool is_better_without(const struct rank_search *with, const struct rank_search *without) {
    int64_t with_end = with->ends[with->n_ends - 1];
    int64_t without_end = without->ends[without->n_ends - 1];
    int64_t begin = with->ends[0] < without->ends[0] ? with->ends[0] : without->ends[0];
    int64_t end = with_end > without_end ? with_end : without_end;
    return covered(without, begin, end) > covered(with, begin, end) + MORE;
}

/* Compares the result with sizes with the result without. */
static int try_without_sizes(const struct call_search *search, struct rank_search *rank,
                             double target_ns) {
    struct rank_search other = *rank;
    other.calls = (struct loop_calls){0};
    other.ends = NULL;
    other.view.bytes = false;
    int result = search_view(search, &other, target_ns);
    bool better = result == 0 && other.period_ns > 0 && is_better_without(rank, &other);
    struct rank_search lost = better ? *rank : other;
    if (better)
        *rank = other;
    rank_search_release(&lost);
    return result;
}

int rank_search_loop(const struct call_search *search, struct rank_search *rank, double target_ns) {
    int result = 0;
    rank->period_ns = 0;
    for (size_t v = 0; result == 0 && rank->period_ns <= 0 && v < VIEWS; v++) {
        rank->view = views[v];
        if (!views[v].one_peer || rank->peer != MPI_NO_PEER)
            result = search_view(search, rank, target_ns);
    }
    /* if sizes tell no two calls apart, the sequence without them is the same */
    return result == 0 && rank->period_ns > 0 && rank->view.bytes && rank->sizes_tell
               ? try_without_sizes(search, rank, target_ns)
               : result;
}

int rank_search_begin(const struct call_search *search, struct rank_search *rank) {
    rank->thread = main_thread(search, rank->rank);
    int result = busiest_peer(search, rank->rank, &rank->peer);
    return result == 0 ? rank_search_loop(search, rank, 0) : result;
}

void rank_search_release(struct rank_search *rank) {
    free(rank->calls.items);
    free(rank->ends);
}
