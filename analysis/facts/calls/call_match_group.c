/* SPDX-License-Identifier: MIT */
/*
 * Calls that all members of a communicator make: the k-th call of one member belongs to the k-th of
 * the others. The members are the ranks that were seen to make such a call. If two members disagree
 * about the k-th call, or events of one are lost, all later calls stay unmatched; but after a loss,
 * the k-th call from the end belongs to the k-th from the end again.
 *
 * Calls of GPUs are numbered: there the same number belongs together.
 *
 * In a call with a root, only the root's arrival certainly matters (a tree passes on what comes,
 * and the library decides which rank stands where in it), so only that wait counts. A member that
 * left before the last one had come did not wait for it: MPI_Comm_free, for example, needs nobody.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/facts/calls/call_match_private.h"
#include "analysis/facts/series/series.h"

#define COMM_SELF 1U /* every rank's own communicator, always with this number */

struct group {
    uint32_t members;
    uint32_t limit;      /* the first ordinal that is not reliable */
    uint32_t last_limit; /* the first ordinal, counted from the end, that is not reliable */
    bool lost;           /* events of a member were lost */
};

struct group_call {
    struct list events; /* by rank */
    uint32_t n, group, ordinal;
    uint16_t function;
    bool from_end; /* its ordinal is counted from the end */
    bool broken;   /* members disagree */
};

struct groups {
    struct matcher *m;
    struct key_table keys, member_keys, call_keys;
    struct group *groups;
    uint32_t *counts; /* by member: calls so far */
    struct group_call *calls;
    struct neighbours *neighbours;
    size_t group_capacity, count_capacity, call_capacity;
};

static bool takes_part(const struct mpi_event *e, const struct mpi_function *f) {
    return f->need != MPI_NEED_NOBODY && mpi_event_is_call(e) && e->comm != MPI_COMM_NONE &&
           e->comm != COMM_SELF && !(e->flags & MPI_FLAG_FAILED);
}

/* Like key_add, with an array of entries beside the keys; if *ret_new, the entry must be filled in.
 */
static uint32_t add_entry(struct key_table *table, struct key key, void **items, size_t *capacity,
                          size_t size, bool *ret_new) {
    size_t before = table->n;
    void *room = array_room(*items, before, capacity, size);
    if (!room)
        return KEY_NONE;
    *items = room;
    uint32_t at = key_add(table, key);
    *ret_new = at == before;
    return at;
}

/* Collectives of GPUs have a number for each communicator and function: a lost event disturbs no
 * other. */
static bool is_numbered(const struct groups *g, const struct mpi_event *e) {
    return mpi_event_function(g->m->log, e)->of_gpu && e->tag >= 0;
}

static uint32_t find_group(struct groups *g, uint32_t rank, const struct mpi_event *e) {
    bool is_new;
    uint32_t numbered = is_numbered(g, e) ? e->function + 1U : 0;
    uint32_t group =
        add_entry(&g->keys, (struct key){{g->m->world[rank], e->comm, numbered, 0, KEY_GROUP}},
                  (void **)&g->groups, &g->group_capacity, sizeof *g->groups, &is_new);
    if (group != KEY_NONE && is_new)
        g->groups[group] = (struct group){0, UINT32_MAX, UINT32_MAX, false};
    return group;
}

static uint32_t find_member(struct groups *g, uint32_t group, uint32_t rank) {
    bool is_new;
    uint32_t member =
        add_entry(&g->member_keys, (struct key){{group, rank, 0, 0, KEY_GROUP_MEMBER}},
                  (void **)&g->counts, &g->count_capacity, sizeof *g->counts, &is_new);
    if (member != KEY_NONE && is_new) {
        g->counts[member] = 0;
        g->groups[group].members++;
        g->groups[group].lost |= g->m->log->ranks[rank].lost_ns != INT64_MAX;
    }
    return member;
}

/* Adds an event to the call of that ordinal. */
static struct group_call *add_event(struct groups *g, uint32_t group, uint32_t ordinal,
                                    bool from_end, uint32_t rank, uint32_t index) {
    const struct mpi_event *e = &g->m->log->ranks[rank].events[index];
    bool is_new;
    uint32_t at =
        add_entry(&g->call_keys, (struct key){{group, ordinal, from_end, 0, KEY_GROUP_CALL}},
                  (void **)&g->calls, &g->call_capacity, sizeof *g->calls, &is_new);
    if (at == KEY_NONE)
        return NULL;
    struct group_call *call = &g->calls[at];
    if (is_new)
        *call = (struct group_call){.events = LIST_EMPTY,
                                    .group = group,
                                    .ordinal = ordinal,
                                    .function = e->function,
                                    .from_end = from_end};
    call->n++;
    call->broken |= call->function != e->function;
    list_append(g->m, &call->events, g->m->first[rank] + index);
    return call;
}

static int collect_group_calls(struct groups *g, uint32_t rank, uint32_t index) {
    const struct mpi_rank *r = &g->m->log->ranks[rank];
    const struct mpi_event *e = &r->events[index];
    uint32_t group = find_group(g, rank, e);
    uint32_t member = group == KEY_NONE ? KEY_NONE : find_member(g, group, rank);
    if (member == KEY_NONE)
        return -ENOMEM;
    uint32_t ordinal = is_numbered(g, e) ? (uint32_t)e->tag : g->counts[member]++;
    struct group_call *call = add_event(g, group, ordinal, false, rank, index);
    if (!call)
        return -ENOMEM;
    if ((call->broken || (e->exit_ns >= r->lost_ns && !is_numbered(g, e))) &&
        ordinal < g->groups[group].limit)
        g->groups[group].limit = ordinal;
    g->m->matches.needs[rank][index].asked = true;
    g->m->matches.groups++;
    return 0;
}

/* ---- one call ---- */

struct arrival {
    int64_t ns;
    int32_t who;
};

static struct arrival last_arrival(struct matcher *m, const struct group_call *call) {
    struct arrival last = {INT64_MIN, -1};
    for (uint32_t i = call->events.head; i != KEY_NONE; i = m->next[i]) {
        struct event_at at = locate(m, i);
        if (event_of(m, at)->enter_ns > last.ns)
            last = (struct arrival){event_of(m, at)->enter_ns, (int32_t)at.rank};
    }
    return last;
}

/* The rank number of the root, as the members that name a root have it: in an intercommunicator,
 * the members of the other group.
 */
static int32_t root_number(struct matcher *m, const struct group_call *call) {
    for (uint32_t i = call->events.head; i != KEY_NONE; i = m->next[i])
        if (event_of(m, locate(m, i))->peer >= 0)
            return event_of(m, locate(m, i))->peer;
    return MPI_NO_PEER;
}

/* The root's own arrival; who is -1 if the root is not among the members. */
static struct arrival root_arrival(struct matcher *m, const struct group_call *call) {
    int32_t root = root_number(m, call);
    for (uint32_t i = call->events.head; root >= 0 && i != KEY_NONE; i = m->next[i]) {
        struct event_at at = locate(m, i);
        if (m->log->ranks[at.rank].rank == root)
            return (struct arrival){event_of(m, at)->enter_ns, (int32_t)at.rank};
    }
    return (struct arrival){0, -1};
}

static bool left_before(const struct matcher *m, struct event_at at, struct arrival last) {
    int64_t bound =
        call_clock_bound(m->clock, m->log->ranks[at.rank].host, m->log->ranks[last.who].host);
    const struct mpi_event *e = event_of(m, at);
    return bound != INT64_MAX && e->exit_ns + bound < last.ns &&
           mpi_event_function(m->log, e)->kind != MPI_KIND_COLLECTIVE_START;
}

static void set_need(struct call_need *need, struct arrival arrival) {
    need->ready_ns = arrival.ns;
    need->who = arrival.who;
}

static void resolve(struct groups *g, const struct group_call *call, uint32_t number) {
    struct matcher *m = g->m;
    enum mpi_group_need how = m->log->functions[call->function].need;
    if (how == MPI_NEED_NEIGHBOURS) {
        neighbours_resolve(g->neighbours, call->events);
        return;
    }
    struct arrival last = last_arrival(m, call), root = root_arrival(m, call);
    struct arrival earlier = {INT64_MIN, -1};
    if ((how == MPI_NEED_ROOT || how == MPI_NEED_GATHERED) && root.who < 0)
        return;
    for (uint32_t i = call->events.head; i != KEY_NONE; i = m->next[i]) {
        struct event_at at = locate(m, i);
        struct arrival own = {event_of(m, at)->enter_ns, (int32_t)at.rank};
        struct call_need *need = need_of(m, at);
        bool is_root = root.who == own.who;
        need->partner = number;
        need->mutual = how == MPI_NEED_ALL;
        if (own.ns > earlier.ns)
            earlier = own;
        if (how == MPI_NEED_ALL || (how == MPI_NEED_GATHERED && is_root))
            set_need(need, last);
        else if (how == MPI_NEED_EARLIER)
            set_need(need, earlier);
        else
            set_need(need, is_root || event_of(m, at)->peer < 0 ? own : root);
        need->may_leave = (how == MPI_NEED_GATHERED && !is_root) ||
                          (how == MPI_NEED_ALL && left_before(m, at, last));
    }
}

static bool trusted(const struct groups *g, const struct group_call *call) {
    const struct group *group = &g->groups[call->group];
    return call->n == group->members &&
           call->ordinal < (call->from_end ? group->last_limit : group->limit);
}

static void resolve_from(struct groups *g, size_t first) {
    for (size_t c = first; c < g->call_keys.n; c++)
        if (trusted(g, &g->calls[c])) {
            resolve(g, &g->calls[c], (uint32_t)c);
            g->m->matches.unmatched_groups -= g->calls[c].n;
        }
}

/* ---- after a loss ---- */

/* Calls that the first members left before the last had come are not one call. */
static bool is_one_call(struct groups *g, const struct group_call *call) {
    struct matcher *m = g->m;
    struct arrival last = last_arrival(m, call);
    for (uint32_t i = call->events.head; i != KEY_NONE; i = m->next[i]) {
        struct event_at at = locate(m, i);
        int64_t bound =
            call_clock_bound(m->clock, m->log->ranks[at.rank].host, m->log->ranks[last.who].host);
        if (bound != INT64_MAX && event_of(m, at)->exit_ns + bound < last.ns)
            return false;
    }
    return true;
}

static int collect_from_end(struct groups *g, uint32_t rank, uint32_t index) {
    const struct mpi_event *e = &g->m->log->ranks[rank].events[index];
    uint32_t group = find_group(g, rank, e);
    if (group == KEY_NONE)
        return -ENOMEM;
    if (!g->groups[group].lost || is_numbered(g, e) ||
        need_of(g->m, (struct event_at){rank, index})->partner != CALL_NO_PARTNER)
        return 0;
    uint32_t member = find_member(g, group, rank);
    if (member == KEY_NONE)
        return -ENOMEM;
    uint32_t ordinal = g->counts[member]++;
    return add_event(g, group, ordinal, true, rank, index) ? 0 : -ENOMEM;
}

static int collect_tail(struct groups *g, uint32_t rank) {
    const struct mpi_rank *r = &g->m->log->ranks[rank];
    int64_t from = r->lost_ns == INT64_MAX ? INT64_MIN : r->found_ns;
    int result = 0;
    if (!call_match_has_end(g->m, rank))
        return 0;
    for (uint32_t i = (uint32_t)r->n; result == 0 && i-- > 0 && r->events[i].enter_ns >= from;) {
        const struct mpi_event *e = &r->events[i];
        if (takes_part(e, mpi_event_function(g->m->log, e)))
            result = collect_from_end(g, rank, i);
    }
    return result;
}

/* Matches group calls after a loss of events, counted from the end. */
static int match_call_tails(struct groups *g) {
    size_t first = g->call_keys.n;
    int result = 0;
    for (size_t i = 0; i < g->member_keys.n; i++)
        g->counts[i] = 0;
    for (uint32_t r = 0; result == 0 && r < g->m->log->n; r++)
        result = collect_tail(g, r);
    for (size_t c = first; result == 0 && c < g->call_keys.n; c++) {
        const struct group_call *call = &g->calls[c];
        struct group *group = &g->groups[call->group];
        bool all = g->m->log->functions[call->function].need == MPI_NEED_ALL;
        if ((call->broken || (all && call->n == group->members && !is_one_call(g, call))) &&
            call->ordinal < group->last_limit)
            group->last_limit = call->ordinal;
    }
    if (result == 0)
        resolve_from(g, first);
    return result;
}

int call_match_groups(struct matcher *m) {
    struct groups g = {.m = m};
    bool lost = false;
    int result = neighbours_new(m, &g.neighbours);
    for (uint32_t r = 0; r < m->log->n; r++) {
        lost |= m->log->ranks[r].found_ns != INT64_MAX;
        for (uint32_t i = 0; result == 0 && i < m->log->ranks[r].n; i++) {
            const struct mpi_event *e = &m->log->ranks[r].events[i];
            if (takes_part(e, mpi_event_function(m->log, e)))
                result = collect_group_calls(&g, r, i);
        }
    }
    m->matches.unmatched_groups = m->matches.groups;
    if (result == 0)
        resolve_from(&g, 0);
    if (result == 0 && lost)
        result = match_call_tails(&g);
    m->matches.n_group_calls = (uint32_t)g.call_keys.n;
    neighbours_free(g.neighbours);
    key_table_release(&g.keys);
    key_table_release(&g.member_keys);
    key_table_release(&g.call_keys);
    free(g.groups);
    free(g.counts);
    free(g.calls);
    return result < 0 ? result : m->error;
}
