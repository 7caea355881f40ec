/* SPDX-License-Identifier: MIT */
/*
 * Iterations from MPI calls: the sequence of signatures of a rank (function, communicator, peer or
 * its role, log2 of the bytes, place in the program) repeats. Each rank is searched by itself;
 * ranks of a role then agree on a period, so that one that was cut differently is cut again or left
 * out.
 *
 * Sizes may be what tells one call from the next (a model streamed in pieces), or may jump about a
 * power of two and break a loop that is there (neighbours' lists). Neither is known beforehand, so
 * both are tried: of the time from the first end of a round to the last that either found, the one
 * is kept that has more in rounds of as many calls as the loop has; about as much: the one with
 * sizes, which tells more.
 *
 * Tests and probes are no part of it: how many there are, and which of them finds something, is a
 * matter of waiting. Where the order of a rank's calls is one, too (a server), the calls with one
 * of its peers still come in order.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/iteration_loop.h"
#include "analysis/iteration_private.h"
#include "analysis/stats.h"

/* ---- signatures ---- */

/* What of a call is looked at: tried in this order. */
struct view {
    bool bytes;       /* sizes may jump about a power of two */
    bool peer;        /* which one; else only its role: the order of peers may be any */
    bool one_peer;    /* only calls with the peer that most are with */
    bool collectives; /* only calls of groups */
};
static const struct view views[] = {{.bytes = true, .peer = true},
                                    {.bytes = true},
                                    {.bytes = false},
                                    {.bytes = true, .one_peer = true},
                                    {.bytes = false, .one_peer = true},
                                    {.bytes = true, .collectives = true}};
#define VIEWS (sizeof views / sizeof *views)

static bool is_same_view(struct view a, struct view b) {
    return a.bytes == b.bytes && a.peer == b.peer && a.one_peer == b.one_peer &&
           a.collectives == b.collectives;
}

struct rank_search {
    const struct mpi_rank *rank;
    int role;
    uint16_t thread;
    int peer; /* most calls are with it; MPI_NO_PEER */
    struct view view;
    struct loop_calls calls;
    struct loop loop;
    struct loop_anchor anchor;
    int64_t *ends;
    size_t n_ends;
    double period_ns; /* median; 0: none found */
};

struct search {
    const struct mpi_log *log;
    int *roles;
    struct rank_search *ranks; /* as the log's */
};

static bool is_counted(const struct mpi_log *log, const struct mpi_event *event) {
    const struct mpi_function *f = mpi_event_function(log, event);
    return mpi_event_is_call(event) && !f->in_rows && f->kind != MPI_KIND_TEST &&
           f->kind != MPI_KIND_PROBE && f->kind != MPI_KIND_ADMIN;
}

static int role_of_peer(const struct search *search, int peer) {
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

static uint64_t signature_of(const struct search *search, const struct mpi_event *event,
                             struct view view) {
    uint64_t hash = mix_in(1, event->function);
    hash = mix_in(hash, event->comm);
    bool named = view.peer && !(event->flags & MPI_FLAG_WILDCARD);
    hash = mix_in(hash, (uint64_t)(named ? event->peer + 1 : ~role_of_peer(search, event->peer)));
    hash = mix_in(hash, view.bytes ? log2_of(event->bytes) : 0);
    return mix_in(hash, event->site);
}

static bool is_in_view(const struct search *search, const struct rank_search *rank,
                       const struct mpi_event *event, struct view view) {
    return is_counted(search->log, event) && event->thread == rank->thread &&
           (!view.one_peer || event->peer == rank->peer) &&
           (!view.collectives || mpi_event_function(search->log, event)->need != MPI_NEED_NOBODY);
}

static int take_calls(const struct search *search, struct rank_search *rank) {
    struct view view = rank->view;
    struct loop_call *items = realloc(rank->calls.items, (rank->rank->n + 1) * sizeof *items);
    if (!items)
        return -ENOMEM;
    rank->calls = (struct loop_calls){.items = items};
    for (size_t i = 0; i < rank->rank->n; i++) {
        const struct mpi_event *event = &rank->rank->events[i];
        if (is_in_view(search, rank, event, view))
            items[rank->calls.n++] = (struct loop_call){signature_of(search, event, view),
                                                        event->enter_ns, event->exit_ns};
    }
    return 0;
}

/* ---- one rank ---- */

#define THREADS_MAX 64

static uint16_t main_thread(const struct search *search, const struct mpi_rank *rank) {
    size_t counts[THREADS_MAX] = {0}, most = 0;
    for (size_t i = 0; i < rank->n; i++)
        if (rank->events[i].thread < THREADS_MAX && is_counted(search->log, &rank->events[i]))
            counts[rank->events[i].thread]++;
    for (size_t t = 1; t < THREADS_MAX; t++)
        most = counts[t] > counts[most] ? t : most;
    return (uint16_t)most;
}

/* Boyer and Moore's vote needs a majority; a count needs the ranks' number of words. */
static int busiest_peer(const struct search *search, const struct mpi_rank *rank, int *ret_peer) {
    uint32_t *counts = calloc(search->log->n + 1, sizeof *counts);
    size_t best = 0;
    *ret_peer = MPI_NO_PEER;
    if (!counts)
        return -ENOMEM;
    for (size_t i = 0; i < rank->n; i++) {
        const struct mpi_event *event = &rank->events[i];
        if (is_counted(search->log, event) && event->peer >= 0 &&
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

static int cut(struct rank_search *rank, struct loop_anchor anchor) {
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

/* One view; target_ns > 0: only a period of about that. */
static int search_view(const struct search *search, struct rank_search *rank, double target_ns) {
    struct loop_anchor anchor = {0};
    rank->period_ns = 0;
    rank->n_ends = 0;
    int result = take_calls(search, rank);
    if (result == 0)
        result = loop_find(&rank->calls, target_ns, &rank->loop);
    if (result == 0 && rank->loop.lag)
        result = loop_anchor_find(&rank->calls, &rank->loop, &anchor);
    return result == 0 && anchor.length ? cut(rank, anchor) : result;
}

/* ---- with sizes or without ---- */

#define WHOLE_ROUND 1.5 /* lags: a round of more calls lacks an end */
#define MORE 0.02       /* of the time covered: less may be chance */

/* Share of the time [begin, end) in rounds of a lag of calls; not judged by their times, which on
 * busy machines are anything. */
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

/* Both found something. */
static bool is_better_without(const struct rank_search *with, const struct rank_search *without) {
    int64_t with_end = with->ends[with->n_ends - 1];
    int64_t without_end = without->ends[without->n_ends - 1];
    int64_t begin = with->ends[0] < without->ends[0] ? with->ends[0] : without->ends[0];
    int64_t end = with_end > without_end ? with_end : without_end;
    return covered(without, begin, end) > covered(with, begin, end) + MORE;
}

/* What was found with sizes against what is found without. */
static int try_without_sizes(const struct search *search, struct rank_search *rank,
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
    free(lost.calls.items);
    free(lost.ends);
    return result;
}

static int search_rank(const struct search *search, struct rank_search *rank, double target_ns) {
    int result = 0;
    rank->period_ns = 0;
    for (size_t v = 0; result == 0 && rank->period_ns <= 0 && v < VIEWS; v++) {
        rank->view = views[v];
        if (!views[v].one_peer || rank->peer != MPI_NO_PEER)
            result = search_view(search, rank, target_ns);
    }
    return result == 0 && rank->period_ns > 0 && rank->view.bytes
               ? try_without_sizes(search, rank, target_ns)
               : result;
}

/* ---- ranks of a role agree ---- */

#define AGREE 0.1

static bool agrees(double period_ns, double of_role_ns) {
    return fabs(period_ns - of_role_ns) <= AGREE * of_role_ns;
}

static double period_of_role(const struct search *search, int role, double *room) {
    size_t n = 0, ranks = 0;
    for (size_t r = 0; r < search->log->n; r++) {
        ranks += search->roles[r] == role;
        if (search->roles[r] == role && search->ranks[r].period_ns > 0)
            room[n++] = search->ranks[r].period_ns;
    }
    return n && 2 * n >= ranks ? stats_quantile(room, n, 0.5) : 0;
}

/* The rank's calls cut at the anchor of another of its role: rounds then begin at the same place.
 */
static int cut_alike(struct rank_search *rank, const struct rank_search *other) {
    struct loop_anchor own = rank->anchor;
    int result = 0;
    if (!is_same_view(other->view, rank->view) || other->anchor.hash == own.hash)
        return 0;
    result = cut(rank, other->anchor);
    if (result == 0 && (!rank->period_ns || !loop_anchor_fits(&rank->loop, rank->n_ends)))
        result = cut(rank, own);
    return result;
}

/* Free-running ranks may be slower than their peers and still do the same: only what lies apart by
 * a whole factor was cut differently. */
static bool is_cut_differently(double period_ns, double of_role_ns) {
    double factor = period_ns / of_role_ns;
    return factor < 0.55 || (factor > 1.8 && agrees(factor, round(factor))) || factor > 8;
}

static int settle_role(struct search *search, int role, double period_ns) {
    const struct rank_search *first = NULL;
    int result = 0;
    for (size_t r = 0; result == 0 && r < search->log->n; r++) {
        struct rank_search *rank = &search->ranks[r];
        if (search->roles[r] != role)
            continue;
        if (period_ns > 0 &&
            (rank->period_ns <= 0 || is_cut_differently(rank->period_ns, period_ns)))
            result = search_rank(search, rank, period_ns);
        if (period_ns <= 0)
            rank->period_ns = 0;
        if (result == 0 && rank->period_ns > 0 && first)
            result = cut_alike(rank, first);
        if (!first && rank->period_ns > 0)
            first = rank;
    }
    return result;
}

static int settle(struct search *search) {
    double *room = malloc((search->log->n + 1) * sizeof *room);
    int roles = 0, result = room ? 0 : -ENOMEM;
    for (size_t r = 0; r < search->log->n; r++)
        roles = search->roles[r] >= roles ? search->roles[r] + 1 : roles;
    for (int role = 0; result == 0 && role < roles; role++)
        result = settle_role(search, role, period_of_role(search, role, room));
    free(room);
    return result;
}

/* ---- iterations ---- */

static int add_rank(const struct rank_search *from, int64_t offset, struct iterations *to) {
    struct rank_iterations *rank = &to->ranks[to->n];
    *rank = (struct rank_iterations){.rank = from->rank->rank,
                                     .host = from->rank->host,
                                     .pid = from->rank->pid,
                                     .role = from->role,
                                     .items = malloc(from->n_ends * sizeof *rank->items)};
    if (!rank->items)
        return -ENOMEM;
    to->n++;
    for (size_t i = 1; i < from->n_ends; i++)
        if (from->ends[i] > from->ends[i - 1])
            rank->items[rank->n++] = (struct iteration){(int64_t)i - 1 + offset, from->ends[i],
                                                        from->ends[i] - from->ends[i - 1]};
    return 0;
}

static size_t nearest(const int64_t *ends, size_t n, int64_t t_ns) {
    size_t low = 0, high = n - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ends[middle] < t_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && t_ns - ends[low - 1] < ends[low] - t_ns ? low - 1 : low;
}

/* What to add to a rank's numbers so that those that end together are called the same: the stretch
 * in which the loop was found may begin a round earlier or later. */
static int number_offset(const struct rank_search *reference, const struct rank_search *rank,
                         int64_t *ret_offset) {
    double *offsets = malloc((rank->n_ends + 1) * sizeof *offsets);
    if (!offsets)
        return -ENOMEM;
    for (size_t i = 0; i < rank->n_ends; i++)
        offsets[i] = (double)nearest(reference->ends, reference->n_ends, rank->ends[i]) - (double)i;
    *ret_offset = (int64_t)floor(stats_median(offsets, rank->n_ends) + 0.5);
    free(offsets);
    return 0;
}

static int make_iterations(const struct search *search, struct iterations *to) {
    const struct rank_search *reference = NULL;
    int result = 0;
    to->ranks = calloc(search->log->n + 1, sizeof *to->ranks);
    if (!to->ranks)
        return -ENOMEM;
    for (size_t r = 0; result == 0 && r < search->log->n; r++) {
        const struct rank_search *rank = &search->ranks[r];
        int64_t offset = 0;
        if (rank->period_ns <= 0)
            continue;
        reference = reference ? reference : rank;
        result = number_offset(reference, rank, &offset);
        if (result == 0)
            result = add_rank(rank, offset, to);
    }
    to->source = to->n ? ITERATION_CALLS : ITERATION_NONE;
    to->lockstep = iterations_in_lockstep(to);
    return result;
}

static int search_all(struct search *search) {
    int result = call_roles(search->log, search->roles);
    for (size_t r = 0; result == 0 && r < search->log->n; r++) {
        struct rank_search *rank = &search->ranks[r];
        rank->rank = &search->log->ranks[r];
        rank->role = search->roles[r];
        rank->thread = main_thread(search, rank->rank);
        result = busiest_peer(search, rank->rank, &rank->peer);
        if (result == 0)
            result = search_rank(search, rank, 0);
    }
    return result < 0 ? result : settle(search);
}

int iterations_from_calls(const struct recording *recording, struct iterations *ret_iterations) {
    struct search search = {.log = &recording->calls};
    struct iterations iterations = {.n = 0};
    search.roles = calloc(search.log->n + 1, sizeof *search.roles);
    search.ranks = calloc(search.log->n + 1, sizeof *search.ranks);
    int result = search.roles && search.ranks ? search_all(&search) : -ENOMEM;
    if (result == 0)
        result = make_iterations(&search, &iterations);
    for (size_t r = 0; search.ranks && r < search.log->n; r++) {
        free(search.ranks[r].calls.items);
        free(search.ranks[r].ends);
    }
    free(search.ranks);
    free(search.roles);
    if (result < 0) {
        iterations_release(&iterations);
        return result;
    }
    *ret_iterations = iterations;
    return 0;
}
