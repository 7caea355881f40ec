/* SPDX-License-Identifier: MIT */
/* Matches receives with sends, in order per communicator, source, destination and tag; and probes.
 */
#include <errno.h>
#include <string.h>

#include "analysis/facts/calls/call_match_private.h"
#include "analysis/facts/series/series.h" /* TIME_SANE_NS */

#define AFTER_FINALIZE 8 /* calls that MPI allows after MPI_Finalize: MPI_Finalized and others */

bool call_match_has_end(const struct matcher *m, uint32_t rank) {
    const struct mpi_rank *r = &m->log->ranks[rank];
    if (r->lost_ns != INT64_MAX && r->found_ns == INT64_MAX)
        return false;
    for (size_t i = r->n; i > 0 && r->n - i < AFTER_FINALIZE; i--)
        if (strcmp(m->log->names[r->events[i - 1].function], "MPI_Finalize") == 0)
            return true;
    return false;
}

/* ---- messages ---- */

static bool is_send(const struct mpi_event *e, const struct mpi_function *f) {
    if (e->flags & (MPI_FLAG_REQUEST | MPI_FLAG_FAILED))
        return false;
    if (e->flags & MPI_FLAG_PART)
        return f->kind == MPI_KIND_ADMIN && f->sends; /* the start of a persistent send */
    return f->sends && f->kind != MPI_KIND_ADMIN;
}

static bool is_receive(const struct mpi_event *e, const struct mpi_function *f) {
    if (e->flags & (MPI_FLAG_FAILED | MPI_FLAG_CANCELLED))
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

static struct channel *look_up_channel(struct matcher *m, uint32_t rank, const struct mpi_event *e,
                                       bool sending, bool add) {
    int32_t peer = call_match_peer(m, rank, e->peer);
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

static struct channel *channel_of(struct matcher *m, uint32_t rank, const struct mpi_event *e,
                                  bool sending, bool add) {
    size_t slot = ((uint32_t)e->peer * 8 + (uint32_t)e->tag * 2 + sending) % LAST_CHANNELS;
    struct last_channel *last = &m->last[slot];
    if (last->rank == rank && last->peer == e->peer && last->tag == e->tag &&
        last->comm == e->comm && last->sending == sending)
        return &m->channels[last->at];
    struct channel *channel = look_up_channel(m, rank, e, sending, add);
    if (channel)
        *last = (struct last_channel){
            e->comm, rank, e->peer, e->tag, (uint32_t)(channel - m->channels), sending};
    return channel;
}

static void collect_messages(struct matcher *m, uint32_t rank, uint32_t at) {
    const struct mpi_event *e = &m->log->ranks[rank].events[at];
    const struct mpi_function *f = mpi_event_function(m->log, e);
    bool sends = is_send(e, f), receives = is_receive(e, f);
    if (!sends && !receives)
        return;
    struct call_need *need = &m->matches.needs[rank][at];
    need->may_leave = sends;
    if (e->peer < 0 && (sends || (e->tag < 0 && e->bytes == 0)))
        return; /* to or from MPI_PROC_NULL: nothing to wait for */
    need->asked = true;
    struct channel *c = channel_of(m, rank, e, sends, true);
    if (c)
        list_append(m, sends ? &c->sends : &c->receives, m->first[rank] + at);
    else if (sends)
        m->matches.unmatched_sends++;
    else
        m->matches.unmatched_receives++;
}

/* Whether all events before them are there, too. */
static bool are_before_loss(const struct matcher *m, struct event_at s, struct event_at r) {
    return event_of(m, s)->enter_ns < m->log->ranks[s.rank].lost_ns &&
           event_of(m, r)->exit_ns < m->log->ranks[r.rank].lost_ns;
}

/* Older recordings of a call that sends and receives give the larger size as the bytes sent; then
 * as many as it received count.
 */
static bool sent_at_most(const struct matcher *m, struct event_at s) {
    const struct mpi_rank *rank = &m->log->ranks[s.rank];
    const struct mpi_event *send = event_of(m, s);
    size_t i = s.index;
    if (mpi_event_function(m->log, send)->kind != MPI_KIND_SENDRECV)
        return false;
    while (i > 0 && rank->events[i - 1].enter_ns == send->enter_ns)
        i--;
    for (; i < rank->n && rank->events[i].enter_ns == send->enter_ns; i++)
        if (rank->events[i].flags & MPI_FLAG_PART && rank->events[i].thread == send->thread &&
            rank->events[i].bytes == send->bytes)
            return true;
    return false;
}

static bool sizes_fit(const struct matcher *m, struct event_at s, const struct mpi_event *send,
                      const struct mpi_event *receive) {
    bool room = (send->flags | receive->flags) & MPI_FLAG_AT_MOST; /* had room for more than came */
    return send->bytes == receive->bytes ||
           (send->bytes < receive->bytes ? room : sent_at_most(m, s));
}

/* Whether these two can be one message. */
static bool fit(const struct matcher *m, struct event_at s, struct event_at r) {
    const struct mpi_rank *from = &m->log->ranks[s.rank], *to = &m->log->ranks[r.rank];
    const struct mpi_event *send = event_of(m, s), *receive = event_of(m, r);
    if (!sizes_fit(m, s, send, receive))
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

/* ---- after a loss ---- */

/* The events of a list after the rank's last loss. */
struct tail {
    uint32_t head, n;
    bool whole; /* nothing was lost: the rest of the list */
};

static bool find_tail(const struct matcher *m, uint32_t at, uint32_t rank, struct tail *ret_tail) {
    const struct mpi_rank *r = &m->log->ranks[rank];
    struct tail tail = {.whole = r->lost_ns == INT64_MAX};
    if (at == KEY_NONE || !call_match_has_end(m, rank))
        return false;
    while (at != KEY_NONE && !tail.whole && event_of(m, locate(m, at))->enter_ns < r->found_ns)
        at = m->next[at];
    tail.head = at;
    tail.n = (uint32_t)count_rest(m, at);
    *ret_tail = tail;
    return true;
}

/* Keeps the last n events. A side without a loss has at least as many as the other. */
static bool cut_tail(const struct matcher *m, struct tail *tail, uint32_t n) {
    if (tail->whole && tail->n < n)
        return false;
    for (; tail->n > n; tail->n--)
        tail->head = m->next[tail->head];
    return true;
}

static bool tails_fit(const struct matcher *m, uint32_t s, uint32_t r) {
    for (; s != KEY_NONE && r != KEY_NONE; s = m->next[s], r = m->next[r])
        if (!fit(m, locate(m, s), locate(m, r)))
            return false;
    return true;
}

/* Matches the rest of a channel after one side lost events, from the end; returns the number of
 * pairs.
 */
static uint64_t match_channel_tail(struct matcher *m, const struct channel *c, uint32_t s,
                                   uint32_t r) {
    struct tail sends, receives;
    uint32_t from = locate(m, c->sends.head).rank, to = locate(m, c->receives.head).rank;
    if ((m->log->ranks[from].lost_ns == INT64_MAX && m->log->ranks[to].lost_ns == INT64_MAX) ||
        !find_tail(m, s, from, &sends) || !find_tail(m, r, to, &receives))
        return 0;
    uint32_t n_sends = sends.n, n_receives = receives.n;
    if (!cut_tail(m, &sends, n_receives) || !cut_tail(m, &receives, n_sends) ||
        !tails_fit(m, sends.head, receives.head))
        return 0;
    for (s = sends.head, r = receives.head; s != KEY_NONE && r != KEY_NONE;
         s = m->next[s], r = m->next[r])
        pair(m, locate(m, s), locate(m, r));
    return sends.n;
}

/* ---- all of it ---- */

static void match_channel(struct matcher *m, const struct channel *c) {
    uint32_t s = c->sends.head, r = c->receives.head;
    bool lost = false;
    while (s != KEY_NONE && r != KEY_NONE) {
        struct event_at send = locate(m, s), receive = locate(m, r);
        lost = !are_before_loss(m, send, receive);
        if (lost || !fit(m, send, receive))
            break;
        pair(m, send, receive);
        s = m->next[s];
        r = m->next[r];
    }
    if (lost) {
        uint64_t pairs = match_channel_tail(m, c, s, r);
        m->matches.unmatched_sends -= pairs;
        m->matches.unmatched_receives -= pairs;
    }
    m->matches.unmatched_sends += count_rest(m, s);
    m->matches.unmatched_receives += count_rest(m, r);
}

int call_match_messages(struct matcher *m) {
    for (uint32_t r = 0; r < m->log->n; r++)
        for (uint32_t i = 0; i < m->log->ranks[r].n; i++)
            collect_messages(m, r, i);
    for (size_t c = 0; m->error == 0 && c < m->n_channels; c++)
        match_channel(m, &m->channels[c]);
    return m->error;
}

/* ---- probes: they wait for what is received next ---- */

/* A test that found nothing does not say so: its record is folded, or has no message. */
static bool found_message(const struct mpi_event *e, const struct mpi_function *f) {
    if (!f->probes || e->peer < 0 || e->flags & (MPI_FLAG_FOLDED | MPI_FLAG_FAILED))
        return false;
    return f->kind == MPI_KIND_PROBE || e->bytes > 0 || !(e->flags & MPI_FLAG_HAS_GAP_CPU);
}

/* Whether events between these two may be lost. */
static bool loss_lies_between(const struct mpi_rank *r, const struct mpi_event *a,
                              const struct mpi_event *b) {
    return b->enter_ns >= r->lost_ns && a->enter_ns < r->found_ns;
}

void call_match_probes(struct matcher *m, uint32_t rank) {
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
        else if (c && probe && c->next_receive != KEY_NONE &&
                 !loss_lies_between(r, e, &r->events[c->next_receive])) {
            need->ready_ns = m->matches.needs[rank][c->next_receive].ready_ns;
            need->who = m->matches.needs[rank][c->next_receive].who;
            need->partner = m->matches.needs[rank][c->next_receive].partner;
        }
    }
}
