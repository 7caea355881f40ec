/* SPDX-License-Identifier: MIT */
/*
 * One rank's calls as operations. What the budget counts as waiting by polling (tests that find
 * nothing, and the sleep between them) is no operation at all: the wait is that of the call which
 * completes what was polled for.
 */
#include <errno.h>
#include <math.h>

#include "analysis/polling.h"
#include "analysis/replay_private.h"

/* A rank that spins while a message is on its way loses no time by having no core, but at the end:
 * until its turn comes again. */
#define TURN_NS 50e6   /* of a quota twice as long: it is given out every 100 ms */
#define RETURN_NS 1000 /* of a call that had been waiting, after what it waited for came */

struct rank_builder {
    struct builder *b;
    size_t index;
    const struct mpi_rank *rank;
    const struct call_need *needs;
    struct replay_rank *to;
    struct polling polling;
    uint32_t *requests; /* events of requests by their end */
    size_t n_requests;
    uint32_t *held; /* messages begun that go on only when the sender is back */
    size_t n_held, held_capacity;
    size_t interval; /* cursor */
    int64_t poll_begin_ns;
    struct replay_op nowhere; /* written to when there is no memory */
    int error;
};

static const struct mpi_function *function_of(const struct rank_builder *rb,
                                              const struct mpi_event *e) {
    return mpi_event_function(rb->b->log, e);
}

static bool is_ours(const struct rank_builder *rb, const struct mpi_event *e) {
    return mpi_event_is_call(e) && e->thread == rb->b->threads[rb->index];
}

static struct replay_op *add_op(struct rank_builder *rb, enum replay_op_kind kind, uint32_t first,
                                int64_t ns, int64_t end_ns) {
    struct replay_op *op = &rb->nowhere;
    if (replay_room(&rb->to->ops, rb->to->n, &rb->to->capacity, sizeof *op))
        op = &rb->to->ops[rb->to->n++];
    else
        rb->error = -ENOMEM;
    *op = (struct replay_op){.kind = kind, .first = first, .ns = ns, .end_ns = end_ns};
    return op;
}

/* spins: the share of it on the CPU. */
static void add_fixed(struct rank_builder *rb, int64_t ns, int64_t end_ns, float spins) {
    struct replay_op *last = rb->to->n ? &rb->to->ops[rb->to->n - 1] : NULL;
    if (last && last->kind == REPLAY_FIXED && !last->late_ns) {
        double spun = (double)last->ns * (double)last->spins + (double)ns * (double)spins;
        last->ns += ns;
        last->end_ns = end_ns;
        last->spins = last->ns > 0 ? (float)(spun / (double)last->ns) : 1;
    } else if (ns > 0) {
        add_op(rb, REPLAY_FIXED, 0, ns, end_ns)->spins = spins;
    }
}

/* ---- between calls ---- */

static double unknown_cpu(const struct rank_builder *rb, uint32_t interval) {
    return interval == REPLAY_NONE ? 1 : rb->to->shares[interval].cpu_of_dark;
}

/* Cut where counters were read: each part has shares of its own. */
static void add_gap(struct rank_builder *rb, int64_t begin, int64_t end, double cpu_per_ns) {
    const struct builder *b = rb->b;
    while (begin < end && !rb->error) {
        while (rb->interval < b->n_intervals && b->intervals[rb->interval].end_ns <= begin)
            rb->interval++;
        bool inside = rb->interval < b->n_intervals && b->intervals[rb->interval].begin_ns <= begin;
        int64_t to = end;
        if (inside && b->intervals[rb->interval].end_ns < end)
            to = b->intervals[rb->interval].end_ns;
        else if (!inside && rb->interval < b->n_intervals &&
                 b->intervals[rb->interval].begin_ns < end)
            to = b->intervals[rb->interval].begin_ns;
        uint32_t shares = inside ? (uint32_t)rb->interval : REPLAY_NONE;
        double cpu = isnan(cpu_per_ns) ? unknown_cpu(rb, shares) : cpu_per_ns;
        struct replay_op *op = add_op(rb, REPLAY_GAP, shares, to - begin, to);
        op->cpu_ns = (int64_t)((double)(to - begin) * cpu);
        begin = to;
    }
}

static void put_gap(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    const struct mpi_event *e = &rb->rank->events[i];
    double length = (double)(end - begin), cpu = length;
    if (end <= begin)
        return;
    if (!(e->flags & MPI_FLAG_HAS_GAP_CPU) && length >= MPI_LONG_NS) {
        add_gap(rb, begin, end, NAN);
        rb->poll_begin_ns = VALUE_ABSENT;
        return;
    }
    if (e->flags & MPI_FLAG_HAS_GAP_CPU)
        cpu = fmin((double)e->gap_cpu_ns, length);
    if (polling_napped(&rb->polling, i) && polling_for(&rb->polling, i, begin))
        return;
    add_gap(rb, begin, end, cpu / length);
    rb->poll_begin_ns = VALUE_ABSENT;
}

static void put_tests(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    const struct mpi_event *e = &rb->rank->events[i];
    bool folded = e->flags & MPI_FLAG_FOLDED;
    if (!polling_for(&rb->polling, i, begin)) {
        if (folded)
            add_gap(rb, begin, end, NAN);
        else
            add_fixed(rb, end - begin, end, 1);
        return;
    }
    if (rb->poll_begin_ns == VALUE_ABSENT)
        rb->poll_begin_ns = begin;
}

/* ---- calls ---- */

static int compare_requests(const void *a, const void *b, void *ctx) {
    const struct mpi_rank *rank = ctx;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct mpi_event *x = &rank->events[i], *y = &rank->events[j];
    if (x->exit_ns != y->exit_ns)
        return x->exit_ns < y->exit_ns ? -1 : 1;
    return (i > j) - (i < j);
}

static int sort_requests(struct rank_builder *rb) {
    rb->requests = malloc((rb->rank->n + 1) * sizeof *rb->requests);
    if (!rb->requests)
        return -ENOMEM;
    for (size_t i = 0; i < rb->rank->n; i++)
        if (rb->rank->events[i].flags & MPI_FLAG_REQUEST)
            rb->requests[rb->n_requests++] = (uint32_t)i;
    qsort_r(rb->requests, rb->n_requests, sizeof *rb->requests, compare_requests, (void *)rb->rank);
    return 0;
}

enum waits_for { FOR_NOBODY, FOR_MESSAGES, FOR_GROUP };

/* How long a call went on for want of a core: time off the CPU after what it waited for was there,
 * as far as the kernel saw the process wait for one. In a group call all that fits in there: others
 * may have waited for it then. A message was on its way in that time, too, and had no core as often
 * as before it was sent: what is left of the stay is what its link took. A wait whose end is not
 * known goes on without a core up to the last turn. */
static int64_t late_of(struct rank_builder *rb, size_t i, enum waits_for what, int64_t begin,
                       int64_t end, uint32_t *ret_shares) {
    const struct mpi_event *e = &rb->rank->events[i];
    const struct call_need *need = &rb->needs[i];
    const struct builder *b = rb->b;
    *ret_shares = REPLAY_NONE;
    while (rb->interval < b->n_intervals && b->intervals[rb->interval].end_ns <= begin)
        rb->interval++;
    if (!(e->flags & MPI_FLAG_HAS_CPU) || rb->interval == b->n_intervals ||
        b->intervals[rb->interval].begin_ns > begin || rb->poll_begin_ns != VALUE_ABSENT)
        return 0;
    bool may_go = need->may_leave && need->ready_ns >= end;
    int64_t ready = need->ready_ns == VALUE_ABSENT || may_go || need->ready_ns < begin ? begin
                    : need->ready_ns < end ? need->ready_ns
                                           : end;
    const struct budget_shares *shares = &rb->to->shares[rb->interval];
    double off = (double)(end - begin - e->cpu_ns), after = (double)(end - ready);
    double turn_ns = what == FOR_NOBODY ? INFINITY : TURN_NS * (1 + shares->quota_of_queue);
    double lost = what != FOR_MESSAGES ? fmin(off, after)
                  : end > begin        ? off * after / (double)(end - begin)
                                       : 0;
    double late = fmin(lost * shares->queue_of_inside_off, turn_ns);
    double known = fmax(off - (double)(ready - begin), 0) * shares->queue_of_inside_off;
    double hidden = fmax(late - known, 0);
    rb->to->hidden_quota_ns += hidden * shares->quota_of_queue;
    rb->to->hidden_queue_ns += hidden * (1 - shares->quota_of_queue);
    *ret_shares = (uint32_t)rb->interval;
    return (int64_t)fmax(late, 0);
}

/* While it had no core, others may have waited for what it was to do. */
static void note_late(struct rank_builder *rb, uint32_t number, const struct replay_op *op) {
    struct replay_group *g = &rb->b->replay->groups[number];
    if (op->late_ns <= g->late_ns)
        return;
    g->late_rank = (uint32_t)rb->index;
    g->late_shares = op->shares;
    g->late_end_ns = op->end_ns;
    g->late_ns = op->late_ns;
}

/* The share of a wait in a call that it is on the CPU; one that naps between looks hardly is. */
static float spins(const struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    const struct mpi_event *e = &rb->rank->events[i];
    if (rb->poll_begin_ns != VALUE_ABSENT || end <= begin)
        return 0;
    double cpu = e->flags & MPI_FLAG_HAS_CPU ? (double)e->cpu_ns / (double)(end - begin) : 1;
    return (float)fmin(fmax(cpu, 0), 1);
}

static void add_wait(struct rank_builder *rb, uint32_t what) {
    struct replay *p = rb->b->replay;
    uint32_t *at = replay_room(&p->waits, p->n_waits, &p->waits_capacity, sizeof *at);
    if (!at)
        rb->error = -ENOMEM;
    else
        p->waits[p->n_waits++] = what;
}

/* The receiver's side of a message: since when it waited for it. */
static void note_receive(struct rank_builder *rb, uint32_t id, int64_t since_ns) {
    struct replay_message *m = &rb->b->replay->messages[id];
    m->waited_ns = since_ns > m->posted_ns ? since_ns : m->posted_ns;
    m->polled = rb->poll_begin_ns != VALUE_ABSENT;
}

static uint32_t group_of(const struct rank_builder *rb, size_t i) {
    const struct mpi_event *e = &rb->rank->events[i];
    uint32_t number = rb->needs[i].partner;
    const struct replay *p = rb->b->replay;
    bool can = function_of(rb, e)->need != MPI_NEED_NOBODY && number < p->n_groups &&
               !rb->b->group_outside[number];
    return can ? number : REPLAY_NONE;
}

/* What event i stands for in a wait; REPLAY_NONE: nothing known. */
static uint32_t waited_for(struct rank_builder *rb, size_t i, int64_t since_ns) {
    const struct mpi_event *e = &rb->rank->events[i];
    const struct mpi_function *f = function_of(rb, e);
    if (f->kind == MPI_KIND_COLLECTIVE_START)
        return group_of(rb, i) == REPLAY_NONE ? REPLAY_NONE : group_of(rb, i) | REPLAY_OWN_GROUP;
    if (f->receives) {
        uint32_t id = rb->b->ids[rb->index][i];
        if (id != REPLAY_NONE)
            note_receive(rb, id, since_ns);
        return id;
    }
    const struct call_need *need = &rb->needs[i]; /* of a send: its receiver's event */
    if (need->who < 0 || need->partner == CALL_NO_PARTNER)
        return REPLAY_NONE;
    uint32_t id = rb->b->ids[need->who][need->partner];
    if (id != REPLAY_NONE)
        rb->b->replay->messages[id].left_ns = e->exit_ns;
    return id == REPLAY_NONE ? id : id | REPLAY_OWN_SEND;
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

static bool is_group(uint32_t what) {
    return what & REPLAY_OWN_GROUP && !(what & REPLAY_OWN_SEND);
}

static bool waits_for_group(const struct replay *p, size_t before) {
    bool any = false;
    for (size_t w = before; w < p->n_waits; w++)
        any |= is_group(p->waits[w]);
    return any;
}

/* The wait for what was put into waits[] since `before`. What a message took to come does not
 * contain what its receiver took to look. */
static struct replay_op *put_wait_op(struct rank_builder *rb, size_t i, size_t before, bool waited,
                                     int64_t begin, int64_t end) {
    struct replay *p = rb->b->replay;
    uint32_t shares;
    enum waits_for what = waits_for_group(p, before) ? FOR_GROUP : FOR_MESSAGES;
    int64_t late = late_of(rb, i, what, begin, end, &shares);
    int64_t ns = waited || end - begin - late > MPI_LONG_NS ? RETURN_NS : end - begin - late;
    struct replay_op *op = add_op(rb, REPLAY_WAIT, (uint32_t)before, ns, end);
    op->n = (uint32_t)(p->n_waits - before);
    op->spins = spins(rb, i, begin, end);
    op->late_ns = late;
    op->shares = shares;
    for (size_t w = before; w < p->n_waits; w++)
        if (!(p->waits[w] & (REPLAY_OWN_SEND | REPLAY_OWN_GROUP)))
            p->messages[p->waits[w]].done_ns -= late;
    return op;
}

/* When the members of a group call that this one needs had come; `end` if only then. VALUE_ABSENT:
 * it needs none. */
static int64_t came_ns(const struct call_need *need, int64_t end) {
    if (need->may_leave || need->ready_ns == VALUE_ABSENT)
        return VALUE_ABSENT;
    return need->ready_ns < end ? need->ready_ns : end;
}

static int64_t later(int64_t a, int64_t b) {
    return b != VALUE_ABSENT && b > a ? b : a;
}

static void put_wait(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    const struct mpi_event *e = &rb->rank->events[i];
    int64_t since = rb->poll_begin_ns != VALUE_ABSENT ? rb->poll_begin_ns : begin;
    size_t before = rb->b->replay->n_waits;
    int64_t group_since = since;
    for (size_t q = first_request(rb, e->exit_ns); q < rb->n_requests; q++) {
        const struct mpi_event *request = &rb->rank->events[rb->requests[q]];
        if (request->exit_ns != e->exit_ns)
            break;
        uint32_t what =
            request->thread == e->thread ? waited_for(rb, rb->requests[q], since) : REPLAY_NONE;
        if (what == REPLAY_NONE)
            continue;
        add_wait(rb, what);
        if (is_group(what))
            group_since = later(group_since, came_ns(&rb->needs[rb->requests[q]], end));
    }
    const struct call_need *need = &rb->needs[i];
    size_t n = rb->b->replay->n_waits - before;
    if (!n) {
        add_fixed(rb, end - begin, end, spins(rb, i, begin, end));
        return;
    }
    bool waited = need->ready_ns != VALUE_ABSENT && need->ready_ns > since;
    struct replay_op *op = put_wait_op(rb, i, before, waited, begin, end);
    int64_t group_ns = end - group_since - op->late_ns;
    op->group_ns = group_ns > 0 ? group_ns : 0;
    for (size_t w = before; w < before + n; w++) {
        uint32_t what = rb->b->replay->waits[w];
        if (is_group(what))
            note_late(rb, what & ~REPLAY_OWN_GROUP, op);
    }
}

/* A blocking call that needs its own message, and perhaps a second one. */
static void put_blocking(struct rank_builder *rb, size_t i, const uint32_t *what, size_t n,
                         int64_t begin, int64_t end) {
    const struct call_need *need = &rb->needs[i];
    size_t before = rb->b->replay->n_waits;
    for (size_t k = 0; k < n; k++)
        add_wait(rb, what[k]);
    bool waited = need->ready_ns != VALUE_ABSENT && need->ready_ns > begin;
    put_wait_op(rb, i, before, waited, begin, end);
}

static void hold_back(struct rank_builder *rb, uint32_t id) {
    if (replay_room(&rb->held, rb->n_held, &rb->held_capacity, sizeof *rb->held))
        rb->held[rb->n_held++] = id;
    else
        rb->error = -ENOMEM;
}

/* The sender is inside MPI again. */
static void send_held(struct rank_builder *rb, int64_t now_ns) {
    size_t kept = 0;
    for (size_t i = 0; i < rb->n_held; i++)
        if (rb->b->replay->messages[rb->held[i]].sent_ns <= now_ns)
            add_op(rb, REPLAY_POST_SEND, rb->held[i], 0, now_ns);
        else
            rb->held[kept++] = rb->held[i];
    rb->n_held = kept;
}

/* Whatever a call starts stands beside it, with the same beginning. */
static size_t post_all(struct rank_builder *rb, size_t i, uint32_t what[2]) {
    const struct mpi_event *e = &rb->rank->events[i];
    const struct mpi_function *own = function_of(rb, e);
    const uint32_t *ids = rb->b->ids[rb->index];
    size_t first = i, n = 0;
    while (first > 0 && rb->rank->events[first - 1].enter_ns == e->enter_ns)
        first--;
    for (size_t k = first; k < rb->rank->n && rb->rank->events[k].enter_ns == e->enter_ns; k++) {
        const struct mpi_event *x = &rb->rank->events[k];
        const struct mpi_function *f = function_of(rb, x);
        if (ids[k] == REPLAY_NONE || x->thread != e->thread || (k != i && mpi_event_is_call(x)))
            continue;
        bool receives = x->flags & MPI_FLAG_REQUEST ? f->receives
                        : x->flags & MPI_FLAG_PART  ? f->kind == MPI_KIND_SENDRECV
                                                    : f->kind == MPI_KIND_RECV;
        if (x->flags & MPI_FLAG_REQUEST && !receives)
            continue; /* of a send: its start has the message */
        if (!receives && rb->b->replay->messages[ids[k]].sent_ns > e->enter_ns)
            hold_back(rb, ids[k]);
        else
            add_op(rb, receives ? REPLAY_POST_RECEIVE : REPLAY_POST_SEND, ids[k], 0, e->enter_ns);
        bool blocking = own->kind == MPI_KIND_RECV || own->kind == MPI_KIND_SEND ||
                        own->kind == MPI_KIND_SENDRECV;
        if (receives && blocking)
            note_receive(rb, ids[k], e->enter_ns);
        else if (blocking)
            rb->b->replay->messages[ids[k]].left_ns = e->exit_ns;
        if (blocking && n < 2)
            what[n++] = receives ? ids[k] : ids[k] | REPLAY_OWN_SEND;
    }
    return n;
}

static void put_group(struct rank_builder *rb, size_t i, uint32_t number, int64_t begin,
                      int64_t end) {
    const struct call_need *need = &rb->needs[i];
    int64_t since = later(begin, came_ns(need, end));
    uint32_t shares;
    int64_t late = late_of(rb, i, FOR_GROUP, begin, end, &shares);
    late = late < end - since ? late : end - since;
    struct replay_op *op = add_op(rb, REPLAY_GROUP, number, end - since - late, end);
    op->spins = spins(rb, i, begin, end);
    op->late_ns = late;
    op->shares = shares;
    if (function_of(rb, &rb->rank->events[i])->kind == MPI_KIND_COLLECTIVE_START) {
        op->n = 1; /* does not wait */
        op->ns = end - begin - late;
    }
    note_late(rb, number, op);
}

/* Small calls in a row, and the computing between them. */
static void put_row(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    int64_t inside = rb->rank->events[i].inside_ns;
    inside = inside < end - begin ? inside : end - begin;
    add_fixed(rb, inside, begin + inside, 1);
    add_gap(rb, begin + inside, end, 1);
}

/* A call that waits for nobody. */
static void put_fixed(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    uint32_t shares;
    int64_t late = late_of(rb, i, FOR_NOBODY, begin, end, &shares);
    if (late <= 0) {
        add_fixed(rb, end - begin, end, spins(rb, i, begin, end));
        return;
    }
    struct replay_op *op = add_op(rb, REPLAY_FIXED, 0, end - begin - late, end);
    op->spins = spins(rb, i, begin, end - late);
    op->late_ns = late;
    op->shares = shares;
}

static void put_call(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    const struct mpi_event *e = &rb->rank->events[i];
    enum mpi_kind kind = function_of(rb, e)->kind;
    uint32_t group = group_of(rb, i), what[2];
    if (group != REPLAY_NONE) {
        put_group(rb, i, group, begin, end);
        return;
    }
    if (mpi_event_is_row(e, function_of(rb, e))) {
        put_row(rb, i, begin, end);
        return;
    }
    size_t n = post_all(rb, i, what);
    if (n)
        put_blocking(rb, i, what, n, begin, end);
    else if (kind == MPI_KIND_WAIT || kind == MPI_KIND_TEST)
        put_wait(rb, i, begin, end);
    else
        put_fixed(rb, i, begin, end);
}

/* ---- the pass ---- */

static void walk(struct rank_builder *rb) {
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
            put_gap(rb, i, at, begin);
        send_held(rb, begin);
        if (polling_found_nothing(&rb->polling, i)) {
            put_tests(rb, i, begin, end);
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
                              .needs = b->replay->scene->matches.needs[rank],
                              .to = &b->replay->ranks[rank],
                              .poll_begin_ns = VALUE_ABSENT};
    int result = polling_init(b->log, rank, rb.needs, b->threads[rank], &rb.polling);
    if (result == 0)
        result = sort_requests(&rb);
    if (result == 0)
        walk(&rb);
    polling_release(&rb.polling);
    free(rb.requests);
    free(rb.held);
    return result ? result : rb.error;
}
