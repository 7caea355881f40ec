/* SPDX-License-Identifier: MIT */
/* Finds the identities of ranks, and runs the passes of matching in order. Messages and probes:
 * call_match_message.c; requests, and calls of several parts: call_match_request.c; group calls:
 * call_match_group.c, call_match_neighbour.c; windows: call_match_window.c, call_match_epoch.c,
 * call_match_lock.c.
 */
#include "analysis/facts/calls/call_match.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/facts/calls/call_match_private.h"

/* ---- who is who ---- */

/* The ranks of one mpirun. A second mpirun in the same run has the same rank numbers, so a process
 * belongs to the first world that lacks its rank and was alive at the same time.
 */
struct world {
    int64_t begin_ns, end_ns;
};

static int64_t last_exit(const struct mpi_rank *rank) {
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < rank->n; i++)
        last = rank->events[i].exit_ns > last ? rank->events[i].exit_ns : last;
    return last;
}

static int compare_begin(const void *a, const void *b, void *ctx) {
    const struct mpi_log *log = ctx;
    const struct mpi_rank *x = &log->ranks[*(const uint32_t *)a];
    const struct mpi_rank *y = &log->ranks[*(const uint32_t *)b];
    int64_t p = x->n ? x->events[0].enter_ns : INT64_MAX;
    int64_t q = y->n ? y->events[0].enter_ns : INT64_MAX;
    return p != q ? (p < q ? -1 : 1) : x < y ? -1 : 1;
}

static int join_world(struct matcher *m, uint32_t rank, struct world *worlds, size_t *n_worlds) {
    const struct mpi_rank *r = &m->log->ranks[rank];
    if (!r->n)
        return 0;
    int64_t begin = r->events[0].enter_ns, end = last_exit(r);
    size_t w = 0;
    while (w < *n_worlds && (begin > worlds[w].end_ns || end < worlds[w].begin_ns ||
                             key_find(&m->members, member_key((uint32_t)w, r->rank)) != KEY_NONE))
        w++;
    if (w == *n_worlds)
        worlds[(*n_worlds)++] = (struct world){begin, end};
    worlds[w].begin_ns = begin < worlds[w].begin_ns ? begin : worlds[w].begin_ns;
    worlds[w].end_ns = end > worlds[w].end_ns ? end : worlds[w].end_ns;
    m->world[rank] = (uint32_t)w;
    uint32_t at = key_add(&m->members, member_key((uint32_t)w, r->rank));
    if (at == KEY_NONE)
        return -ENOMEM;
    m->member_rank[at] = rank;
    return 0;
}

static int find_worlds(struct matcher *m) {
    size_t n = m->log->n, n_worlds = 0;
    uint32_t *order = malloc((n + 1) * sizeof *order);
    struct world *worlds = malloc((n + 1) * sizeof *worlds);
    int result = order && worlds ? 0 : -ENOMEM;
    for (size_t i = 0; result == 0 && i < n; i++)
        order[i] = (uint32_t)i;
    if (result == 0 && n)
        qsort_r(order, n, sizeof *order, compare_begin, (void *)m->log);
    for (size_t i = 0; result == 0 && i < n; i++)
        result = join_world(m, order[i], worlds, &n_worlds);
    free(order);
    free(worlds);
    return result;
}

/* ---- all of it ---- */

static int matcher_init(struct matcher *m) {
    size_t n = m->log->n, events = 0;
    m->first = malloc((n + 1) * sizeof *m->first);
    m->world = calloc(n + 1, sizeof *m->world);
    m->member_rank = calloc(n + 1, sizeof *m->member_rank);
    m->matches.needs = calloc(n + 1, sizeof *m->matches.needs);
    if (!m->first || !m->world || !m->member_rank || !m->matches.needs)
        return -ENOMEM;
    m->matches.n_ranks = n;
    for (size_t i = 0; i < LAST_CHANNELS; i++)
        m->last[i].rank = KEY_NONE;
    for (size_t r = 0; r < n; r++) {
        size_t n_events = m->log->ranks[r].n;
        if (events + n_events >= INT32_MAX)
            return -E2BIG;
        m->first[r] = (uint32_t)events;
        events += n_events;
        m->matches.needs[r] = malloc((n_events + 1) * sizeof **m->matches.needs);
        if (!m->matches.needs[r])
            return -ENOMEM;
        for (size_t i = 0; i < n_events; i++)
            m->matches.needs[r][i] = (struct call_need){.ready_ns = VALUE_ABSENT,
                                                        .since_ns = VALUE_ABSENT,
                                                        .who = -1,
                                                        .partner = CALL_NO_PARTNER};
    }
    m->first[n] = (uint32_t)events;
    m->next = malloc((events + 1) * sizeof *m->next);
    return m->next ? 0 : -ENOMEM;
}

static int match_all(struct matcher *m) {
    int result = matcher_init(m);
    if (result == 0)
        result = find_worlds(m);
    if (result == 0)
        result = call_match_messages(m);
    for (uint32_t r = 0; result == 0 && r < m->log->n; r++)
        result = call_match_away(m, r);
    if (result == 0)
        result = call_match_groups(m);
    if (result == 0)
        result = call_match_windows(m);
    if (result == 0)
        result = call_match_epochs(m);
    if (result == 0)
        result = call_match_locks(m);
    for (uint32_t r = 0; result == 0 && r < m->log->n; r++) {
        call_match_probes(m, r);
        result = call_match_requests(m, r);
        call_match_parts(m, r);
    }
    call_match_sort_signals(m);
    return result;
}

int call_match(const struct mpi_log *log, const struct call_clock *clock,
               struct call_matches *ret_matches) {
    struct matcher m = {.log = log, .clock = clock};
    int result = match_all(&m);
    free(m.first);
    free(m.world);
    free(m.member_rank);
    free(m.next);
    free(m.channels);
    key_table_release(&m.members);
    key_table_release(&m.channel_keys);
    if (result < 0)
        call_matches_release(&m.matches);
    else
        *ret_matches = m.matches;
    return result;
}

void call_matches_release(struct call_matches *matches) {
    for (size_t r = 0; matches->needs && r < matches->n_ranks; r++)
        free(matches->needs[r]);
    free(matches->needs);
    free(matches->signals);
    *matches = (struct call_matches){0};
}
