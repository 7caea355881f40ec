/* SPDX-License-Identifier: MIT */
/*
 * Iterations from MPI calls: the sequence of a rank's signatures (function, communicator, peer or
 * its role, log2 of the bytes, place in the program) repeats. Each rank is searched by itself; then
 * the ranks of a role agree on a period, and a rank that was cut differently is cut again or left
 * out. A rank whose rounds are like its peers' was not cut differently, however long its rounds
 * take: ranks that need not wait for each other (a server's workers) may differ by any factor.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/facts/iteration/iteration_search.h"
#include "analysis/facts/series/stats.h"

static bool is_same_view(struct call_view a, struct call_view b) {
    return a.bytes == b.bytes && a.peer == b.peer && a.one_peer == b.one_peer &&
           a.collectives == b.collectives;
}

/* ---- ranks of a role agree ---- */

#define AGREE 0.1

static bool agrees(double period_ns, double of_role_ns) {
    return fabs(period_ns - of_role_ns) <= AGREE * of_role_ns;
}

/* The median period of a role; 0 if fewer than half of its ranks have one. */
static double period_of_role(const struct call_search *search, int role, double *room) {
    size_t n = 0, ranks = 0;
    for (size_t r = 0; r < search->log->n; r++) {
        ranks += search->roles[r] == role;
        if (search->roles[r] == role && search->ranks[r].period_ns > 0)
            room[n++] = search->ranks[r].period_ns;
    }
    return n && 2 * n >= ranks ? stats_quantile(room, n, 0.5) : 0;
}

/* Cuts the rank's calls at another rank's anchor, so that the rounds of both begin at the same
 * place.
 */
static int cut_alike(struct rank_search *rank, const struct rank_search *other) {
    struct loop_anchor own = rank->anchor;
    int result = 0;
    if (!is_same_view(other->view, rank->view) || other->anchor.hash == own.hash)
        return 0;
    result = rank_search_cut(rank, other->anchor);
    if (result == 0 && (!rank->period_ns || !loop_anchor_fits(&rank->loop, rank->n_ends)))
        result = rank_search_cut(rank, own);
    return result;
}

/* The rank with the role's median period, the longer of two; NULL if none has a period. */
static const struct rank_search *middle_of_role(const struct call_search *search, int role,
                                                double period_ns) {
    const struct rank_search *middle = NULL;
    for (size_t r = 0; r < search->log->n; r++) {
        const struct rank_search *rank = &search->ranks[r];
        if (search->roles[r] == role && rank->period_ns > 0 && rank->period_ns >= period_ns &&
            (!middle || rank->period_ns < middle->period_ns))
            middle = rank;
    }
    return middle;
}

/* Finds rounds with as many calls as another rank's rounds, beginning where that rank's do. */
static int goes_round_as(const struct rank_search *rank, const struct rank_search *other,
                         bool *ret_alike) {
    *ret_alike = rank == other;
    if (*ret_alike || !other || rank->period_ns <= 0 || rank->loop.lag != other->loop.lag ||
        !is_same_view(rank->view, other->view))
        return 0;
    int64_t *room = malloc((rank->calls.n + 1) * sizeof *room);
    if (!room)
        return -ENOMEM;
    size_t n = loop_anchor_ends(&rank->calls, &rank->loop, other->anchor, room);
    *ret_alike = loop_anchor_fits(&rank->loop, n);
    free(room);
    return 0;
}

/* Freely running ranks may be slower than their peers and still do the same; only periods a whole
 * factor apart may have been cut differently.
 */
static bool is_apart(double period_ns, double of_role_ns) {
    double factor = period_ns / of_role_ns;
    return factor < 0.55 || (factor > 1.8 && agrees(factor, round(factor))) || factor > 8;
}

/* A rank without a loop, or with another period than its role's, is searched for a loop with the
 * period of the role's median rank: a value between two ranks would be no rank's period.
 */
static int settle_rank(const struct call_search *search, struct rank_search *rank,
                       const struct rank_search *middle, double period_ns) {
    double target_ns = middle ? (double)middle->period_ns : period_ns;
    bool alike = false;
    if (rank->period_ns > 0 && !is_apart(rank->period_ns, period_ns))
        return 0;
    int result = goes_round_as(rank, middle, &alike);
    return result == 0 && !alike ? rank_search_loop(search, rank, target_ns) : result;
}

static int settle_role(struct call_search *search, int role, double *room) {
    double period_ns = period_of_role(search, role, room);
    const struct rank_search *first = NULL;
    const struct rank_search *middle = middle_of_role(search, role, period_ns);
    int result = 0;
    for (size_t r = 0; result == 0 && r < search->log->n; r++) {
        struct rank_search *rank = &search->ranks[r];
        if (search->roles[r] != role)
            continue;
        if (period_ns > 0)
            result = settle_rank(search, rank, middle, period_ns);
        else
            rank->period_ns = 0;
        if (result == 0 && rank->period_ns > 0 && first)
            result = cut_alike(rank, first);
        if (!first && rank->period_ns > 0)
            first = rank;
    }
    return result;
}

static int settle(struct call_search *search) {
    double *room = malloc((search->log->n + 1) * sizeof *room);
    int roles = 0, result = room ? 0 : -ENOMEM;
    for (size_t r = 0; r < search->log->n; r++)
        roles = search->roles[r] >= roles ? search->roles[r] + 1 : roles;
    for (int role = 0; result == 0 && role < roles; role++)
        result = settle_role(search, role, room);
    free(room);
    return result;
}

/* ---- iterations ---- */

static int add_searched_rank(const struct rank_search *from, int64_t offset,
                             struct iterations *to) {
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

/* The offset to a rank's numbers that gives iterations that end together the same number: its loop
 * may have been found a round earlier or later.
 */
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

static int make_iterations(const struct call_search *search, struct iterations *to) {
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
            result = add_searched_rank(rank, offset, to);
    }
    to->source = to->n ? ITERATION_CALLS : ITERATION_NONE;
    to->lockstep = iterations_in_lockstep(to);
    return result;
}

static int search_all(struct call_search *search) {
    int result = call_roles(search->log, search->roles);
    for (size_t r = 0; result == 0 && r < search->log->n; r++) {
        struct rank_search *rank = &search->ranks[r];
        rank->rank = &search->log->ranks[r];
        rank->role = search->roles[r];
        result = rank_search_begin(search, rank);
    }
    return result < 0 ? result : settle(search);
}

int iterations_from_calls(const struct recording *recording, struct iterations *ret_iterations) {
    struct call_search search = {.log = &recording->calls};
    struct iterations iterations = {.n = 0};
    search.roles = calloc(search.log->n + 1, sizeof *search.roles);
    search.ranks = calloc(search.log->n + 1, sizeof *search.ranks);
    int result = search.roles && search.ranks ? search_all(&search) : -ENOMEM;
    if (result == 0)
        result = make_iterations(&search, &iterations);
    for (size_t r = 0; search.ranks && r < search.log->n; r++)
        rank_search_release(&search.ranks[r]);
    free(search.ranks);
    free(search.roles);
    if (result < 0) {
        iterations_release(&iterations);
        return result;
    }
    *ret_iterations = iterations;
    return 0;
}
