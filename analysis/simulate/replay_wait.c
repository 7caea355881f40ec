/* SPDX-License-Identifier: MIT */
/* Operations that wait for messages, or for group calls that were started before. */
#include <errno.h>

#include "analysis/simulate/replay_build.h"

#define RETURN_NS 1000 /* a waiting call returns this long after what it waited for came */

/* ---- requests ---- */

static int compare_requests(const void *a, const void *b, void *ctx) {
    const struct mpi_rank *rank = ctx;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct mpi_event *x = &rank->events[i], *y = &rank->events[j];
    if (x->exit_ns != y->exit_ns)
        return x->exit_ns < y->exit_ns ? -1 : 1;
    return (i > j) - (i < j);
}

int replay_sort_requests(struct rank_builder *rb) {
    rb->requests = malloc((rb->rank->n + 1) * sizeof *rb->requests);
    if (!rb->requests)
        return -ENOMEM;
    for (size_t i = 0; i < rb->rank->n; i++)
        if (rb->rank->events[i].flags & MPI_FLAG_REQUEST)
            rb->requests[rb->n_requests++] = (uint32_t)i;
    qsort_r(rb->requests, rb->n_requests, sizeof *rb->requests, compare_requests, (void *)rb->rank);
    return 0;
}

static size_t first_request(const struct rank_builder *rb, int64_t exit_ns) {
    size_t low = 0, high = rb->n_requests;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rb->rank->events[rb->requests[middle]].exit_ns < exit_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* When the message of a send reached its receiver; INT64_MAX if not known, or if the request is no
 * send.
 */
static int64_t came_ns(const struct rank_builder *rb, size_t request) {
    const struct replay *p = rb->b->replay;
    const struct call_need *need = &rb->needs[request];
    if (replay_function_of(rb, &rb->rank->events[request])->receives || need->who < 0 ||
        need->partner == CALL_NO_PARTNER)
        return INT64_MAX;
    uint32_t id = rb->b->ids[need->who][need->partner];
    if (id == REPLAY_NONE)
        return INT64_MAX;
    const struct replay_message *m = &p->messages[id];
    int64_t bound = call_clock_bound(&p->model->clock, rb->to->host, p->ranks[m->to].host);
    return bound == INT64_MAX ? bound : m->done_ns + bound;
}

static int64_t all_came_ns(const struct rank_builder *rb, size_t i) {
    const struct mpi_event *e = &rb->rank->events[i];
    int64_t last = INT64_MIN;
    for (size_t q = first_request(rb, e->exit_ns); q < rb->n_requests; q++) {
        const struct mpi_event *request = &rb->rank->events[rb->requests[q]];
        if (request->exit_ns != e->exit_ns)
            break;
        if (request->thread == e->thread)
            last = replay_later(last, came_ns(rb, rb->requests[q]));
    }
    return last == INT64_MIN ? INT64_MAX : last;
}

bool replay_had_come(struct rank_builder *rb, size_t i, int64_t by_ns) {
    if (rb->completion != i + 1) { /* many polls ask about the same event */
        rb->completion_came_ns = all_came_ns(rb, i);
        rb->completion = i + 1;
    }
    return rb->completion_came_ns <= by_ns;
}

/* ---- what is waited for ---- */

void replay_add_wait(struct rank_builder *rb, uint32_t what) {
    struct replay *p = rb->b->replay;
    uint32_t *at = replay_room(&p->waits, p->n_waits, &p->waits_capacity, sizeof *at);
    if (!at)
        rb->error = -ENOMEM;
    else
        p->waits[p->n_waits++] = what;
}

void replay_note_receive(struct rank_builder *rb, uint32_t id, int64_t since_ns) {
    struct replay_message *m = &rb->b->replay->messages[id];
    if (m->probed || (!m->signal && m->with_ns > m->sent_ns))
        return; /* a probe told more exactly, or it came before the last one of this wait */
    m->waited_ns = since_ns > m->posted_ns ? since_ns : m->posted_ns;
    m->polled = replay_is_polling(rb);
}

uint32_t replay_group_of(const struct rank_builder *rb, size_t i) {
    const struct mpi_event *e = &rb->rank->events[i];
    uint32_t number = rb->needs[i].partner;
    const struct replay *p = rb->b->replay;
    bool can = replay_function_of(rb, e)->need != MPI_NEED_NOBODY && number < p->n_groups &&
               !rb->b->group_outside[number];
    return can ? number : REPLAY_NONE;
}

/* The operation that event i stands for in a wait, or REPLAY_NONE if not known. */
static uint32_t waited_for(struct rank_builder *rb, size_t i, int64_t since_ns) {
    const struct mpi_event *e = &rb->rank->events[i];
    const struct mpi_function *f = replay_function_of(rb, e);
    if (f->kind == MPI_KIND_COLLECTIVE_START)
        return replay_group_of(rb, i) == REPLAY_NONE ? REPLAY_NONE
                                                     : replay_group_of(rb, i) | REPLAY_OWN_GROUP;
    if (f->receives) {
        uint32_t id = rb->b->ids[rb->index][i];
        if (id != REPLAY_NONE)
            replay_note_receive(rb, id, since_ns);
        return id;
    }
    const struct call_need *need = &rb->needs[i]; /* the receiver's event of a send */
    if (need->who < 0 || need->partner == CALL_NO_PARTNER)
        return REPLAY_NONE;
    uint32_t id = rb->b->ids[need->who][need->partner];
    if (id != REPLAY_NONE)
        rb->b->replay->messages[id].left_ns = e->exit_ns;
    return id == REPLAY_NONE ? id : id | REPLAY_OWN_SEND;
}

static void wait_for_signals(struct rank_builder *rb, size_t request, int64_t since_ns) {
    size_t n, first = replay_signals_received(rb, request, &n);
    for (size_t s = first; s < first + n; s++) {
        uint32_t id = rb->b->signal_ids[s];
        if (id == REPLAY_NONE)
            continue;
        replay_note_receive(rb, id, since_ns);
        replay_add_wait(rb, id);
    }
}

/* The probe ends when a small message arrives. */
void replay_wait_for_envelope(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    const struct call_need *need = &rb->needs[i];
    uint32_t id = need->who < 0 || need->partner == CALL_NO_PARTNER
                      ? REPLAY_NONE
                      : rb->b->ids[need->who][need->partner];
    if (id == REPLAY_NONE)
        return;
    struct replay_message *m = &rb->b->replay->messages[id];
    if (m->bytes < REPLAY_FLOW_BYTES) {
        replay_note_receive(rb, id, begin);
        m->waited_ns = replay_is_polling(rb) ? rb->poll_begin_ns : begin;
        m->done_ns = end;
        m->probed = true;
    }
    replay_add_wait(rb, id | REPLAY_ENVELOPE);
}

static bool is_group(uint32_t what) {
    return what & REPLAY_OWN_GROUP && !(what & REPLAY_OWN_SEND);
}

static bool waits_for_group(const struct replay *p, size_t before) {
    bool any = false;
    for (size_t w = before; w < p->n_waits; w++)
        any |= is_group(p->waits[w]);
    return any;
}

/* Whether the waits since `before` have no bytes that could take the time. */
static bool are_signals(const struct replay *p, size_t before) {
    bool all = true;
    for (size_t w = before; w < p->n_waits; w++)
        all &= p->waits[w] < REPLAY_ENVELOPE && p->messages[p->waits[w]].signal;
    return all;
}

/* Whether the wait ends with the arrival of the message. */
static bool ends_with_message(const struct replay *p, uint32_t what) {
    if (what & (REPLAY_OWN_SEND | REPLAY_OWN_GROUP))
        return false;
    return !(what & REPLAY_ENVELOPE) || p->messages[what & ~REPLAY_ENVELOPE].probed;
}

/* Adds the wait for what was appended to waits[] since `before`. The time of a message excludes the
 * time of its receiver's polls.
 */
static struct replay_op *put_wait_op(struct rank_builder *rb, size_t i, size_t before, bool waited,
                                     int64_t begin, int64_t end) {
    struct replay *p = rb->b->replay;
    uint32_t shares;
    enum waits_for what = waits_for_group(p, before) ? FOR_GROUP : FOR_MESSAGES;
    bool polls = replay_is_polling(rb);
    int64_t late = polls ? replay_poll_late_ns(rb, rb->needs[i].ready_ns, end, &shares)
                         : replay_call_late_ns(rb, i, what, begin, end, &shares);
    int64_t rest = polls ? end - begin : end - begin - late;
    bool moves = rest > MPI_LONG_NS && !are_signals(p, before);
    int64_t ns = waited || moves ? RETURN_NS : rest;
    struct replay_op *op = replay_add_op(rb, REPLAY_WAIT, (uint32_t)before, ns, end);
    op->n = (uint32_t)(p->n_waits - before);
    op->spins = replay_spins(rb, i, begin, end);
    op->late_ns = late;
    op->shares = shares;
    for (size_t w = before; w < p->n_waits; w++)
        if (ends_with_message(p, p->waits[w]))
            p->messages[p->waits[w] & ~REPLAY_ENVELOPE].done_ns -= late;
    return op;
}

int64_t replay_came_ns(const struct call_need *need, int64_t end) {
    if (need->may_leave || need->ready_ns == VALUE_ABSENT)
        return VALUE_ABSENT;
    return need->ready_ns < end ? need->ready_ns : end;
}

void replay_put_wait(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    const struct mpi_event *e = &rb->rank->events[i];
    int64_t since = replay_is_polling(rb) ? rb->poll_begin_ns : begin;
    size_t before = rb->b->replay->n_waits;
    int64_t group_since = since;
    for (size_t q = first_request(rb, e->exit_ns); q < rb->n_requests; q++) {
        const struct mpi_event *request = &rb->rank->events[rb->requests[q]];
        if (request->exit_ns != e->exit_ns)
            break;
        if (request->thread != e->thread)
            continue;
        wait_for_signals(rb, rb->requests[q], since);
        uint32_t what = waited_for(rb, rb->requests[q], since);
        if (what == REPLAY_NONE)
            continue;
        replay_add_wait(rb, what);
        if (is_group(what))
            group_since =
                replay_later(group_since, replay_came_ns(&rb->needs[rb->requests[q]], end));
    }
    const struct call_need *need = &rb->needs[i];
    size_t n = rb->b->replay->n_waits - before;
    if (!n) {
        replay_add_fixed(rb, end - begin, end, replay_spins(rb, i, begin, end));
        return;
    }
    bool waited = need->ready_ns != VALUE_ABSENT && need->ready_ns > since;
    struct replay_op *op = put_wait_op(rb, i, before, waited, begin, end);
    int64_t group_ns = end - group_since - op->late_ns;
    op->group_ns = group_ns > 0 ? group_ns : 0;
}

void replay_put_blocking(struct rank_builder *rb, size_t i, size_t before, int64_t begin,
                         int64_t end) {
    const struct call_need *need = &rb->needs[i];
    bool waited = need->ready_ns != VALUE_ABSENT && need->ready_ns > begin;
    put_wait_op(rb, i, before, waited, begin, end);
}
