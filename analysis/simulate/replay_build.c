/* SPDX-License-Identifier: MIT */
/* Turns the calls of one rank's main thread into operations, in one pass. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/simulate/replay_build.h"

static bool is_ours(const struct rank_builder *rb, const struct mpi_event *e) {
    return mpi_event_is_call(e) && e->thread == rb->b->threads[rb->index];
}

/* ---- what a call starts ---- */

static void hold_back(struct rank_builder *rb, uint32_t id) {
    if (replay_room(&rb->held, rb->n_held, &rb->held_capacity, sizeof *rb->held))
        rb->held[rb->n_held++] = id;
    else
        rb->error = -ENOMEM;
}

/* A rank between two polls that has no core when the receiver comes returns to MPI late. */
static void put_delay(struct rank_builder *rb, const struct replay_message *m, int64_t now_ns) {
    if (!replay_is_polling(rb) || m->posted_ns == VALUE_ABSENT)
        return;
    struct replay_away away =
        replay_away(rb->to, replay_later(rb->poll_begin_ns, m->posted_ns), now_ns, INFINITY);
    if (away.ns < 1)
        return;
    struct replay_op *op = replay_add_op(rb, REPLAY_FIXED, 0, 0, now_ns);
    op->late_ns = (int64_t)away.ns;
    op->shares = away.shares;
    rb->poll_begin_ns = now_ns;
    rb->poll_cpu_ns = rb->poll_woke_ns = 0;
}

/* Sends the held messages: the sender is inside MPI again. */
static void send_held(struct rank_builder *rb, int64_t now_ns) {
    const struct replay_message *messages = rb->b->replay->messages;
    size_t kept = 0;
    for (size_t i = 0; i < rb->n_held; i++) {
        if (messages[rb->held[i]].sent_ns > now_ns) {
            rb->held[kept++] = rb->held[i];
            continue;
        }
        put_delay(rb, &messages[rb->held[i]], now_ns);
        replay_add_op(rb, REPLAY_POST_SEND, rb->held[i], 0, now_ns);
    }
    rb->n_held = kept;
}

/* Sends the dependencies that call i begins or ends. */
static void send_signals(struct rank_builder *rb, size_t i, int64_t now_ns) {
    size_t n;
    const uint32_t *signals = replay_signals_sent(rb, i, &n);
    for (size_t k = 0; k < n; k++)
        if (rb->b->signal_ids[signals[k]] != REPLAY_NONE)
            replay_add_op(rb, REPLAY_POST_SEND, rb->b->signal_ids[signals[k]], 0, now_ns);
}

/* Posts the dependencies that event k receives beside messages. The call itself waits for them, or
 * a request that it began.
 */
static void post_signals(struct rank_builder *rb, size_t k, bool waits, int64_t now_ns) {
    size_t n, first = replay_signals_received(rb, k, &n);
    for (size_t s = first; s < first + n; s++) {
        uint32_t id = rb->b->signal_ids[s];
        if (id == REPLAY_NONE)
            continue;
        replay_add_op(rb, REPLAY_POST_RECEIVE, id, 0, now_ns);
        if (!waits)
            continue;
        replay_note_receive(rb, id, replay_is_polling(rb) ? rb->poll_begin_ns : now_ns);
        replay_add_wait(rb, id);
    }
}

/* Posts the operations that a call starts, which begin with the call. Those that it waits for go
 * into waits[].
 */
static void post_all(struct rank_builder *rb, size_t i) {
    const struct mpi_event *e = &rb->rank->events[i];
    const struct mpi_function *own = replay_function_of(rb, e);
    const uint32_t *ids = rb->b->ids[rb->index];
    size_t first = i;
    while (first > 0 && rb->rank->events[first - 1].enter_ns == e->enter_ns)
        first--;
    for (size_t k = first; k < rb->rank->n && rb->rank->events[k].enter_ns == e->enter_ns; k++) {
        const struct mpi_event *x = &rb->rank->events[k];
        const struct mpi_function *f = replay_function_of(rb, x);
        if (k == i || x->flags & MPI_FLAG_REQUEST)
            post_signals(rb, k, k == i, e->enter_ns);
        if (ids[k] == REPLAY_NONE || x->thread != e->thread || (k != i && mpi_event_is_call(x)))
            continue;
        bool receives = x->flags & MPI_FLAG_REQUEST ? f->receives
                        : x->flags & MPI_FLAG_PART  ? f->kind == MPI_KIND_SENDRECV
                                                    : f->kind == MPI_KIND_RECV;
        if (x->flags & MPI_FLAG_REQUEST && !receives)
            continue; /* the start of a send posts its message */
        if (!receives && rb->b->replay->messages[ids[k]].sent_ns > e->enter_ns)
            hold_back(rb, ids[k]);
        else
            replay_add_op(rb, receives ? REPLAY_POST_RECEIVE : REPLAY_POST_SEND, ids[k], 0,
                          e->enter_ns);
        bool blocking = own->kind == MPI_KIND_RECV || own->kind == MPI_KIND_SEND ||
                        own->kind == MPI_KIND_SENDRECV;
        if (receives && blocking)
            replay_note_receive(rb, ids[k], e->enter_ns);
        else if (blocking)
            rb->b->replay->messages[ids[k]].left_ns = e->exit_ns;
        if (blocking)
            replay_add_wait(rb, receives ? ids[k] : ids[k] | REPLAY_OWN_SEND);
    }
}

/* ---- calls ---- */

/* True if the call only starts an operation, if the rank left before others came, or if it has no
 * part in the call, as the members of the root's group in an intercommunicator.
 */
static bool waits_for_nobody(const struct rank_builder *rb, size_t i, uint32_t number) {
    const struct mpi_event *e = &rb->rank->events[i];
    const struct mpi_function *f = replay_function_of(rb, e);
    bool rooted = f->need == MPI_NEED_ROOT || f->need == MPI_NEED_GATHERED;
    return f->kind == MPI_KIND_COLLECTIVE_START ||
           (f->need == MPI_NEED_ALL && rb->needs[i].may_leave) ||
           (rooted && e->peer < 0 && rb->b->replay->groups[number].root != rb->index);
}

static void put_group(struct rank_builder *rb, size_t i, uint32_t number, int64_t begin,
                      int64_t end) {
    const struct call_need *need = &rb->needs[i];
    int64_t since = replay_later(begin, replay_came_ns(need, end));
    uint32_t shares;
    int64_t late = replay_call_late_ns(rb, i, FOR_GROUP, begin, end, &shares);
    late = late < end - since ? late : end - since;
    struct replay_op *op = replay_add_op(rb, REPLAY_GROUP, number, end - since - late, end);
    op->spins = replay_spins(rb, i, begin, end);
    op->late_ns = late;
    op->shares = shares;
    if (waits_for_nobody(rb, i, number)) {
        op->n = 1;
        op->ns = end - begin - late;
    }
}

/* The part of a file call spent waiting for a disk: its share of the budget's disk time, by time
 * off the CPU.
 */
static double disk_of(const struct rank_builder *rb, int64_t begin, int64_t end) {
    const struct builder *b = rb->b;
    double ns = 0;
    for (size_t i = rb->interval; i < b->n_intervals && b->intervals[i].begin_ns < end; i++) {
        int64_t from = b->intervals[i].begin_ns > begin ? b->intervals[i].begin_ns : begin;
        int64_t to = b->intervals[i].end_ns < end ? b->intervals[i].end_ns : end;
        if (to > from)
            ns += (double)(to - from) * rb->to->shares[i].disk_of_io_off;
    }
    return ns;
}

/* Adds a file call, or a wait for one. A collective file call ends when the last rank has come. */
static void put_file(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    const struct mpi_event *e = &rb->rank->events[i];
    uint32_t group = replay_group_of(rb, i);
    if (group != REPLAY_NONE) {
        int64_t came = rb->needs[i].ready_ns;
        bool waits = came != VALUE_ABSENT && came < end;
        begin = waits && came > begin ? came : begin;
        replay_add_op(rb, REPLAY_GROUP, group, 0, begin)->n = !waits;
    }
    double length = (double)(end - begin), all = (double)(e->exit_ns - e->enter_ns);
    double off = e->flags & MPI_FLAG_HAS_CPU ? fmax(all - (double)e->cpu_ns, 0) : 0;
    replay_add_op(rb, REPLAY_FILE, 0, end - begin, end)->disk_ns =
        (int64_t)(all > 0 ? fmin(disk_of(rb, begin, end) * off / all, length) : 0);
}

/* Adds a row of small calls, and the computing between them. */
static void put_row(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    int64_t inside = rb->rank->events[i].inside_ns;
    inside = inside < end - begin ? inside : end - begin;
    replay_add_fixed(rb, inside, begin + inside, 1);
    replay_add_gap(rb, begin + inside, end, 1);
}

/* MPI_Init ends for all ranks together, however much each has to do. */
static bool ends_together(const struct rank_builder *rb, const struct mpi_event *e) {
    const char *name = rb->b->log->names[e->function];
    return strcmp(name, "MPI_Init") == 0 || strcmp(name, "MPI_Init_thread") == 0;
}

/* Adds a call that waits for no particular other call. */
static void put_fixed(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    uint32_t shares;
    int64_t late = replay_call_late_ns(rb, i, FOR_NOBODY, begin, end, &shares);
    bool together = ends_together(rb, &rb->rank->events[i]);
    if (late <= 0 && !together) {
        replay_add_fixed(rb, end - begin, end, replay_spins(rb, i, begin, end));
        return;
    }
    struct replay_op *op = replay_add_op(rb, REPLAY_FIXED, 0, end - begin - late, end);
    op->spins = replay_spins(rb, i, begin, end - late);
    op->n = together;
    op->late_ns = late;
    op->shares = shares;
}

static void put_call(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    const struct mpi_event *e = &rb->rank->events[i];
    enum mpi_kind kind = replay_function_of(rb, e)->kind;
    uint32_t group = replay_group_of(rb, i);
    size_t before = rb->b->replay->n_waits;
    if (kind == MPI_KIND_IO || kind == MPI_KIND_IO_START || rb->needs[i].of_file) {
        put_file(rb, i, begin, end);
        return;
    }
    if (group != REPLAY_NONE) {
        put_group(rb, i, group, begin, end);
        return;
    }
    if (mpi_event_is_row(e, replay_function_of(rb, e))) {
        put_row(rb, i, begin, end);
        return;
    }
    post_all(rb, i);
    if (replay_function_of(rb, e)->probes)
        replay_wait_for_envelope(rb, i, begin, end);
    if (rb->b->replay->n_waits > before)
        replay_put_blocking(rb, i, before, begin, end);
    else if (kind == MPI_KIND_WAIT || kind == MPI_KIND_TEST)
        replay_put_wait(rb, i, begin, end);
    else
        put_fixed(rb, i, begin, end);
}

/* ---- the pass ---- */

static void build_operations(struct rank_builder *rb) {
    const struct replay *p = rb->b->replay;
    int64_t at = VALUE_ABSENT;
    for (size_t i = 0; i < rb->rank->n && !rb->error; i++) {
        const struct mpi_event *e = &rb->rank->events[i];
        if (!is_ours(rb, e) || e->enter_ns < p->begin_ns || e->exit_ns > p->end_ns)
            continue;
        int64_t begin = at != VALUE_ABSENT && at > e->enter_ns ? at : e->enter_ns;
        int64_t end = e->exit_ns > begin ? e->exit_ns : begin;
        if (at == VALUE_ABSENT)
            rb->to->begin_ns = begin;
        else
            replay_put_gap(rb, i, at, begin);
        send_held(rb, begin);
        send_signals(rb, i, begin);
        if (polling_found_nothing(&rb->polling, i)) {
            replay_put_tests(rb, i, begin, end);
        } else {
            put_call(rb, i, begin, end);
            rb->poll_begin_ns = VALUE_ABSENT;
        }
        at = rb->to->end_ns = end;
    }
    send_held(rb, INT64_MAX);
}

int replay_build_rank(struct builder *b, size_t rank) {
    struct rank_builder rb = {.b = b,
                              .index = rank,
                              .rank = &b->log->ranks[rank],
                              .needs = b->replay->model->matches.needs[rank],
                              .to = &b->replay->ranks[rank],
                              .poll_begin_ns = VALUE_ABSENT};
    int result = polling_init(b->log, rank, rb.needs, b->threads[rank], b->replay->model->judge,
                              &rb.polling);
    if (result == 0)
        result = replay_sort_requests(&rb);
    if (result == 0)
        result = replay_measure_polls(&rb);
    if (result == 0)
        build_operations(&rb);
    polling_release(&rb.polling);
    free(rb.polls);
    free(rb.requests);
    free(rb.held);
    return result ? result : rb.error;
}
