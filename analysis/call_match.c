/* SPDX-License-Identifier: MIT */
/* Messages, requests, probes. Group calls: call_match_group.c. */
#include "analysis/call_match.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/call_match_private.h"
#include "analysis/series.h" /* TIME_SANE_NS */

int64_t call_clock_bound(const struct call_clock *clock, int host_a, int host_b) {
    if (host_a == host_b || !clock || !clock->bound_ns)
        return 0;
    if (host_a < 0 || host_b < 0 || (size_t)host_a >= clock->n_hosts ||
        (size_t)host_b >= clock->n_hosts)
        return INT64_MAX;
    int64_t a = clock->bound_ns[host_a], b = clock->bound_ns[host_b];
    return a < 0 || b < 0 || a > TIME_SANE_NS || b > TIME_SANE_NS ? INT64_MAX : a + b;
}

/* ---- who is who ---- */

/* Ranks of one mpirun find each other; a second mpirun of the same run has the same rank numbers.
 * A process belongs to the first world that lacks its rank and was alive at the same time. */
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

/* The index of a peer, -1 if nothing is known of it. */
static int32_t peer_of(const struct matcher *m, uint32_t rank, int32_t peer) {
    uint32_t at = peer < 0 ? KEY_NONE : key_find(&m->members, member_key(m->world[rank], peer));
    return at == KEY_NONE ? -1 : (int32_t)m->member_rank[at];
}

/* ---- messages ---- */

static bool is_send(const struct mpi_event *e, const struct mpi_function *f) {
    if (e->flags & (MPI_FLAG_REQUEST | MPI_FLAG_FAILED))
        return false;
    if (e->flags & MPI_FLAG_PART)
        return f->kind == MPI_KIND_ADMIN && f->sends; /* a persistent one, started */
    return f->sends && f->kind != MPI_KIND_ADMIN;
}

static bool is_receive(const struct mpi_event *e, const struct mpi_function *f) {
    if (e->flags & MPI_FLAG_FAILED)
        return false;
    if (e->flags & MPI_FLAG_REQUEST)
        return f->receives;
    if (e->flags & MPI_FLAG_PART)
        return f->kind == MPI_KIND_SENDRECV;
    return f->kind == MPI_KIND_RECV;
}

static struct key channel_key(const struct mpi_event *e, uint32_t from, uint32_t to) {
    return (struct key){{e->comm, from, to, (uint32_t)e->tag, KEY_CHANNEL}};
}

static struct channel *channel_of(struct matcher *m, uint32_t rank, const struct mpi_event *e,
                                  bool sending, bool add) {
    int32_t peer = peer_of(m, rank, e->peer);
    if (peer < 0 || e->comm == MPI_COMM_NONE)
        return NULL;
    struct key key =
        sending ? channel_key(e, rank, (uint32_t)peer) : channel_key(e, (uint32_t)peer, rank);
    uint32_t at = add ? key_add(&m->channel_keys, key) : key_find(&m->channel_keys, key);
    if (at == KEY_NONE) {
        m->error = add ? -ENOMEM : m->error;
        return NULL;
    }
    if (at == m->n_channels) {
        struct channel *channels =
            array_room(m->channels, at, &m->channel_capacity, sizeof *channels);
        if (!channels) {
            m->error = -ENOMEM;
            return NULL;
        }
        m->channels = channels;
        m->channels[m->n_channels++] =
            (struct channel){.sends = LIST_EMPTY, .receives = LIST_EMPTY, .next_receive = KEY_NONE};
    }
    return &m->channels[at];
}

static void collect_message(struct matcher *m, uint32_t rank, uint32_t at) {
    const struct mpi_event *e = &m->log->ranks[rank].events[at];
    const struct mpi_function *f = mpi_event_function(m->log, e);
    bool sends = is_send(e, f), receives = is_receive(e, f);
    if (!sends && !receives)
        return;
    struct call_need *need = &m->matches.needs[rank][at];
    need->may_leave = sends;
    if (e->peer < 0 && (sends || (e->tag < 0 && e->bytes == 0)))
        return; /* to or from nobody (MPI_PROC_NULL): nothing to wait for */
    need->asked = true;
    struct channel *c = channel_of(m, rank, e, sends, true);
    if (c)
        list_append(m, sends ? &c->sends : &c->receives, m->first[rank] + at);
    else if (sends)
        m->matches.unmatched_sends++;
    else
        m->matches.unmatched_receives++;
}

/* Whether these can be one message at all. */
static bool fit(const struct matcher *m, struct event_at s, struct event_at r) {
    const struct mpi_rank *from = &m->log->ranks[s.rank], *to = &m->log->ranks[r.rank];
    const struct mpi_event *send = event_of(m, s), *receive = event_of(m, r);
    if (send->enter_ns >= from->lost_ns || receive->exit_ns >= to->lost_ns)
        return false;
    bool exact = !((send->flags | receive->flags) & MPI_FLAG_AT_MOST);
    if (exact ? send->bytes != receive->bytes : send->bytes > receive->bytes)
        return false;
    int64_t bound = call_clock_bound(m->clock, from->host, to->host);
    return bound == INT64_MAX || receive->exit_ns + bound >= send->enter_ns;
}

static void pair(struct matcher *m, struct event_at s, struct event_at r) {
    struct call_need *sent = need_of(m, s), *received = need_of(m, r);
    sent->ready_ns = event_of(m, r)->enter_ns;
    sent->who = (int32_t)r.rank;
    sent->outgoing = true;
    sent->partner = r.index;
    received->partner = s.index;
    received->ready_ns = event_of(m, s)->enter_ns;
    received->who = (int32_t)s.rank;
    m->matches.messages++;
}

static uint64_t count_rest(const struct matcher *m, uint32_t at) {
    uint64_t n = 0;
    for (; at != KEY_NONE; at = m->next[at])
        n++;
    return n;
}

static void match_channel(struct matcher *m, const struct channel *c) {
    uint32_t s = c->sends.head, r = c->receives.head;
    while (s != KEY_NONE && r != KEY_NONE) {
        struct event_at send = locate(m, s), receive = locate(m, r);
        if (!fit(m, send, receive))
            break;
        pair(m, send, receive);
        s = m->next[s];
        r = m->next[r];
    }
    m->matches.unmatched_sends += count_rest(m, s);
    m->matches.unmatched_receives += count_rest(m, r);
}

/* ---- probes: they wait for what is received next ---- */

/* A test that finds nothing does not say so: its record is folded, or has no message. */
static bool found_message(const struct mpi_event *e, const struct mpi_function *f) {
    if (!f->probes || e->peer < 0 || e->flags & (MPI_FLAG_FOLDED | MPI_FLAG_FAILED))
        return false;
    return f->kind == MPI_KIND_PROBE || e->bytes > 0 || !(e->flags & MPI_FLAG_HAS_GAP_CPU);
}

static void match_probes(struct matcher *m, uint32_t rank) {
    const struct mpi_rank *r = &m->log->ranks[rank];
    for (size_t i = r->n; i-- > 0;) {
        const struct mpi_event *e = &r->events[i];
        const struct mpi_function *f = mpi_event_function(m->log, e);
        bool receive = is_receive(e, f), probe = mpi_event_is_call(e) && found_message(e, f);
        struct channel *c = receive || probe ? channel_of(m, rank, e, false, false) : NULL;
        struct call_need *need = &m->matches.needs[rank][i];
        if (probe) {
            need->asked = true;
            need->since_ns = -TIME_SANE_NS;
        }
        if (c && receive)
            c->next_receive = (uint32_t)i;
        else if (c && probe && c->next_receive != KEY_NONE) {
            need->ready_ns = m->matches.needs[rank][c->next_receive].ready_ns;
            need->who = m->matches.needs[rank][c->next_receive].who;
            need->partner = m->matches.needs[rank][c->next_receive].partner;
        }
    }
}

/* ---- requests ---- */

/* The event at which a request was started: same time, same function and message. */
static size_t start_of(const struct mpi_rank *r, const struct mpi_event *request) {
    size_t low = 0, high = r->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->events[middle].enter_ns < request->enter_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < r->n && r->events[low].enter_ns == request->enter_ns; low++) {
        const struct mpi_event *e = &r->events[low];
        if (!(e->flags & MPI_FLAG_REQUEST) && e->function == request->function &&
            e->comm == request->comm && e->peer == request->peer)
            return low;
    }
    return SIZE_MAX;
}

static struct key completion_key(const struct mpi_event *e) {
    uint64_t exit = (uint64_t)e->exit_ns;
    return (struct key){{(uint32_t)exit, (uint32_t)(exit >> 32), e->thread, 0, KEY_COMPLETION}};
}

static bool completes(const struct mpi_event *e, const struct mpi_function *f) {
    return mpi_event_is_call(e) && (f->kind == MPI_KIND_WAIT || f->kind == MPI_KIND_TEST);
}

static void copy_from_start(struct matcher *m, uint32_t rank, size_t at) {
    const struct mpi_rank *r = &m->log->ranks[rank];
    size_t start = start_of(r, &r->events[at]);
    if (start != SIZE_MAX)
        m->matches.needs[rank][at] = m->matches.needs[rank][start];
}

/* The latest of what a wait needed; if one of them is not known, nothing is. */
static void add_need(struct call_need *to, const struct call_need *need, bool first,
                     int64_t exit_ns) {
    if (!need->asked ||
        (need->may_leave && need->ready_ns != VALUE_ABSENT && need->ready_ns >= exit_ns))
        return;
    bool known = need->ready_ns != VALUE_ABSENT;
    if (!to->asked || first) {
        to->asked = true;
        to->ready_ns = need->ready_ns;
        to->who = need->who;
        to->outgoing = need->outgoing;
    } else if (!known || to->ready_ns == VALUE_ABSENT) {
        to->ready_ns = VALUE_ABSENT;
        to->who = -1;
    } else if (need->ready_ns > to->ready_ns) {
        to->ready_ns = need->ready_ns;
        to->who = need->who;
        to->outgoing = need->outgoing;
    }
}

static int match_requests(struct matcher *m, uint32_t rank) {
    const struct mpi_rank *r = &m->log->ranks[rank];
    struct call_need *needs = m->matches.needs[rank];
    struct key_table calls = {0};
    uint32_t *at = malloc((r->n + 1) * sizeof *at);
    int result = at ? 0 : -ENOMEM;
    for (size_t i = 0; result == 0 && i < r->n; i++) {
        if (!completes(&r->events[i], mpi_event_function(m->log, &r->events[i])))
            continue;
        uint32_t key = key_add(&calls, completion_key(&r->events[i]));
        result = key == KEY_NONE ? -ENOMEM : 0;
        if (result == 0)
            at[key] = (uint32_t)i;
    }
    for (size_t i = 0; result == 0 && i < r->n; i++) {
        const struct mpi_event *e = &r->events[i];
        if (!(e->flags & MPI_FLAG_REQUEST))
            continue;
        if (!mpi_event_function(m->log, e)->receives)
            copy_from_start(m, rank, i);
        uint32_t key = key_find(&calls, completion_key(e));
        if (key == KEY_NONE)
            continue;
        struct call_need *wait = &needs[at[key]];
        add_need(wait, &needs[i], false, e->exit_ns);
        if (wait->since_ns == VALUE_ABSENT || e->enter_ns < wait->since_ns)
            wait->since_ns = e->enter_ns;
    }
    key_table_release(&calls);
    free(at);
    return result;
}

/* A call that sends and receives ends when both are done. */
static void match_parts(struct matcher *m, uint32_t rank) {
    const struct mpi_rank *r = &m->log->ranks[rank];
    struct call_need *needs = m->matches.needs[rank];
    for (size_t i = 0; i < r->n; i++) {
        const struct mpi_event *e = &r->events[i];
        if (!(e->flags & MPI_FLAG_PART) || mpi_event_function(m->log, e)->kind != MPI_KIND_SENDRECV)
            continue;
        for (size_t k = i > 8 ? i - 8 : 0; k < r->n && k < i + 8; k++) {
            const struct mpi_event *call = &r->events[k];
            if (!mpi_event_is_call(call) || call->function != e->function ||
                call->thread != e->thread || call->enter_ns != e->enter_ns ||
                call->exit_ns != e->exit_ns)
                continue;
            struct call_need both = {.ready_ns = VALUE_ABSENT,
                                     .since_ns = VALUE_ABSENT,
                                     .who = -1,
                                     .partner = needs[k].partner};
            add_need(&both, &needs[k], true, e->exit_ns);
            add_need(&both, &needs[i], false, e->exit_ns);
            needs[k] = both;
            break;
        }
    }
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
    for (uint32_t r = 0; result == 0 && r < m->log->n; r++)
        for (uint32_t i = 0; i < m->log->ranks[r].n; i++)
            collect_message(m, r, i);
    for (size_t c = 0; result == 0 && m->error == 0 && c < m->n_channels; c++)
        match_channel(m, &m->channels[c]);
    result = result ? result : m->error;
    if (result == 0)
        result = call_match_groups(m);
    for (uint32_t r = 0; result == 0 && r < m->log->n; r++) {
        match_probes(m, r);
        result = match_requests(m, r);
        match_parts(m, r);
    }
    return result ? result : m->error;
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
    *matches = (struct call_matches){0};
}
