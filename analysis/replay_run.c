/* SPDX-License-Identifier: MIT */
/*
 * The replay itself: events in order of time, then of their making. Ranks run on by themselves up
 * to the next thing that concerns another one; flows are shared out anew whenever one begins or
 * ends.
 */
#include <errno.h>
#include <math.h>

#include "analysis/replay_private.h"

#define WORK_MAX 3e9 /* flows looked at */

enum { EVENT_RANK, EVENT_FLOWS };

struct event {
    int64_t t_ns;
    uint64_t order;
    uint32_t kind, index;
};

struct rank_state {
    size_t at;
    int64_t now, resume;
    uint32_t missing; /* what it waits for */
    bool blocked;     /* within an operation */
};

struct message_state {
    int64_t sent_ns, posted_ns, arrived_ns, left_ns; /* VALUE_ABSENT: not yet */
    uint32_t next;                                   /* in its pair's queue */
    bool receiver_waits, sender_waits;
};

struct pair_state {
    struct replay_flow flow;
    uint32_t head, tail;
    uint32_t place; /* among the active; REPLAY_NONE */
    int64_t free_ns;
};

struct waiting { /* a rank, for a group call */
    uint32_t rank, next;
    int64_t arrived_ns, ns;
};

struct group_state {
    uint32_t arrived, waiting;
    int64_t last_ns, root_ns;
};

struct run {
    const struct replay *p;
    const struct replay_change *change;
    const double *egress, *ingress;
    struct rank_state *ranks;
    struct message_state *messages;
    struct pair_state *pairs;
    struct group_state *groups;
    struct waiting *waiting;
    size_t n_waiting, waiting_capacity;
    struct replay_flow **active;
    uint32_t *active_pairs, *ended;
    size_t n_active;
    double *room, work;
    int64_t flows_at;
    bool dirty;
    uint64_t version;
    struct event *heap;
    size_t n_heap, heap_capacity;
    uint64_t order;
    int error;
    /* what is asked */
    size_t reference, next_time, n_times;
    const int64_t *times;
    int64_t *ret_times;
    int64_t passed_ns, passed_at; /* the reference rank's last: as measured, as replayed */
};

/* ---- the queue ---- */

static bool is_before(const struct event *a, const struct event *b) {
    return a->t_ns != b->t_ns ? a->t_ns < b->t_ns : a->order < b->order;
}

static void push(struct run *run, int64_t t, uint32_t kind, uint32_t index) {
    struct event *heap =
        replay_room(&run->heap, run->n_heap, &run->heap_capacity, sizeof *run->heap);
    if (!heap) {
        run->error = -ENOMEM;
        return;
    }
    struct event e = {t, run->order++, kind, index};
    size_t i = run->n_heap++;
    while (i > 0 && is_before(&e, &heap[(i - 1) / 2])) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = e;
}

static struct event pop(struct run *run) {
    struct event *heap = run->heap, top = heap[0], last = heap[--run->n_heap];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < run->n_heap; i = child) {
        if (child + 1 < run->n_heap && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &last))
            break;
        heap[i] = heap[child];
    }
    heap[i] = last;
    return top;
}

/* ---- waiting ---- */

/* What the present operation of a rank takes longer for want of a core. */
static int64_t late_ns(const struct run *run, uint32_t rank) {
    const struct replay_rank *r = &run->p->ranks[rank];
    const struct replay_op *op = &r->ops[run->ranks[rank].at];
    if (!run->change || !run->change->keep || op->shares == REPLAY_NONE)
        return op->late_ns;
    const double *keep = &run->change->keep[(size_t)r->host * BUDGET_TERMS];
    double quota = r->shares[op->shares].quota_of_queue;
    return (int64_t)((double)op->late_ns *
                     (quota * keep[BUDGET_QUOTA] + (1 - quota) * keep[BUDGET_RUN_QUEUE]));
}

static void come(struct run *run, uint32_t rank, int64_t t) {
    struct rank_state *r = &run->ranks[rank];
    r->resume = t > r->resume ? t : r->resume;
    if (--r->missing == 0)
        push(run, r->resume + late_ns(run, rank), EVENT_RANK, rank);
}

static void arrive(struct run *run, uint32_t id, int64_t t, int64_t left) {
    struct message_state *m = &run->messages[id];
    const struct replay_message *as = &run->p->messages[id];
    m->arrived_ns = t;
    if (m->receiver_waits)
        come(run, as->to, t);
    m->receiver_waits = false;
    if (m->left_ns == VALUE_ABSENT)
        m->left_ns = left;
    if (m->sender_waits)
        come(run, as->from, left);
    m->sender_waits = false;
}

/* ---- messages on their way ---- */

static void flows_advance(struct run *run, int64_t now) {
    double s = (double)(now - run->flows_at) / 1e9;
    for (size_t i = 0; s > 0 && i < run->n_active; i++)
        run->active[i]->left -= run->active[i]->rate * s;
    run->work += (double)run->n_active;
    run->flows_at = now;
}

static void activate(struct run *run, uint32_t pair) {
    struct pair_state *p = &run->pairs[pair];
    p->flow.left = run->p->messages[p->head].bytes;
    p->place = (uint32_t)run->n_active;
    run->active[run->n_active] = &p->flow;
    run->active_pairs[run->n_active++] = pair;
    run->dirty = true;
}

static void deactivate(struct run *run, uint32_t pair) {
    uint32_t place = run->pairs[pair].place;
    run->pairs[pair].place = REPLAY_NONE;
    run->n_active--;
    run->active[place] = run->active[run->n_active];
    run->active_pairs[place] = run->active_pairs[run->n_active];
    if (place < run->n_active)
        run->pairs[run->active_pairs[place]].place = place;
    run->dirty = true;
}

static double latency(const struct run *run, const struct replay_message *m, bool between) {
    return run->p->model.latency_ns[between][m->polled];
}

static void go_within(struct run *run, uint32_t id, int64_t now) {
    const struct replay_message *m = &run->p->messages[id];
    struct pair_state *pair = &run->pairs[m->pair];
    int64_t start = now > pair->free_ns ? now : pair->free_ns;
    int64_t end = start + (int64_t)(m->bytes / run->p->model.within * 1e9);
    pair->free_ns = end;
    arrive(run, id, end + (int64_t)latency(run, m, false), end);
}

static void go(struct run *run, uint32_t id, int64_t now) {
    const struct replay_message *m = &run->p->messages[id];
    struct pair_state *pair = &run->pairs[m->pair];
    if (pair->flow.from_host == pair->flow.to_host) {
        go_within(run, id, now);
        return;
    }
    if (m->bytes < REPLAY_FLOW_BYTES && pair->head == REPLAY_NONE) {
        double rate = fmin(run->egress[pair->flow.from_host], run->ingress[pair->flow.to_host]);
        arrive(run, id, now + (int64_t)(latency(run, m, true) + m->bytes / rate * 1e9), now);
        return;
    }
    run->messages[id].next = REPLAY_NONE;
    if (pair->head != REPLAY_NONE) {
        run->messages[pair->tail].next = id;
        pair->tail = id;
        return;
    }
    flows_advance(run, now);
    pair->head = pair->tail = id;
    activate(run, m->pair);
}

static bool has_ended(const struct replay_flow *flow) {
    return flow->left <= fmax(flow->rate, 1) * 1e-9 + 1e-6;
}

static void flows_end(struct run *run, int64_t now) {
    size_t n = 0;
    flows_advance(run, now);
    for (size_t i = 0; i < run->n_active; i++)
        if (has_ended(run->active[i]))
            run->ended[n++] = run->active_pairs[i];
    for (size_t i = 0; i < n; i++) {
        struct pair_state *pair = &run->pairs[run->ended[i]];
        uint32_t id = pair->head;
        const struct replay_message *m = &run->p->messages[id];
        pair->head = run->messages[id].next;
        deactivate(run, run->ended[i]);
        if (pair->head != REPLAY_NONE)
            activate(run, run->ended[i]);
        arrive(run, id, now + (int64_t)latency(run, m, true), now);
    }
    run->dirty = true;
}

static void flows_share(struct run *run) {
    run->dirty = false;
    run->version++;
    if (!run->n_active)
        return;
    size_t hosts = run->p->scene->n_hosts;
    replay_share(run->active, run->n_active, run->egress, run->ingress, hosts, run->room);
    run->work += (double)(run->n_active * run->n_active);
    double first = INFINITY;
    for (size_t i = 0; i < run->n_active; i++)
        first = fmin(first, fmax(run->active[i]->left, 0) / run->active[i]->rate);
    push(run, run->flows_at + (int64_t)ceil(first * 1e9), EVENT_FLOWS, (uint32_t)run->version);
}

static void try_to_go(struct run *run, uint32_t id, int64_t now) {
    const struct message_state *m = &run->messages[id];
    if (m->sent_ns != VALUE_ABSENT &&
        (run->p->messages[id].buffered || m->posted_ns != VALUE_ABSENT))
        go(run, id, now);
}

/* ---- groups ---- */

#define AT_ONCE (-TIME_SANE_NS)

/* When a member can go on; VALUE_ABSENT: not known yet. */
static int64_t group_ready(const struct run *run, uint32_t number, uint32_t rank) {
    const struct replay_group *g = &run->p->groups[number];
    const struct group_state *s = &run->groups[number];
    bool all = s->arrived == g->members;
    switch (g->need) {
    case MPI_NEED_ROOT:
        return g->root == rank || g->root == REPLAY_NONE ? AT_ONCE : s->root_ns;
    case MPI_NEED_GATHERED:
        return g->root != rank ? AT_ONCE : all ? s->last_ns : VALUE_ABSENT;
    case MPI_NEED_NOBODY:
        return AT_ONCE;
    default:
        return all ? s->last_ns : VALUE_ABSENT;
    }
}

static void group_release(struct run *run, uint32_t number) {
    struct group_state *s = &run->groups[number];
    uint32_t kept = REPLAY_NONE;
    for (uint32_t w = s->waiting, next; w != REPLAY_NONE; w = next) {
        struct waiting *item = &run->waiting[w];
        next = item->next;
        int64_t ready = group_ready(run, number, item->rank);
        if (ready == VALUE_ABSENT) {
            item->next = kept;
            kept = w;
            continue;
        }
        come(run, item->rank, (ready > item->arrived_ns ? ready : item->arrived_ns) + item->ns);
    }
    s->waiting = kept;
}

static void group_wait(struct run *run, uint32_t number, uint32_t rank, int64_t now, int64_t ns) {
    struct rank_state *r = &run->ranks[rank];
    int64_t ready = group_ready(run, number, rank);
    if (ready != VALUE_ABSENT) {
        int64_t t = (ready > now ? ready : now) + ns;
        r->resume = t > r->resume ? t : r->resume;
        return;
    }
    struct waiting *w =
        replay_room(&run->waiting, run->n_waiting, &run->waiting_capacity, sizeof *run->waiting);
    if (!w) {
        run->error = -ENOMEM;
        return;
    }
    run->waiting[run->n_waiting] = (struct waiting){rank, run->groups[number].waiting, now, ns};
    run->groups[number].waiting = (uint32_t)run->n_waiting++;
    r->missing++;
}

static double wire_bytes(const struct replay_group *g) {
    return (g->need == MPI_NEED_ALL ? 2 : 1) * g->bytes;
}

/* What another link rate adds to, or takes from, the time a member needs after the others came. */
static int64_t group_ns(const struct run *run, const struct replay_op *op, size_t rank) {
    const struct replay_group *g = &run->p->groups[op->first];
    size_t host = (size_t)run->p->ranks[rank].host;
    const struct replay_model *m = &run->p->model;
    double was = fmin(m->egress[host], m->ingress[host]);
    double is = fmin(run->egress[host], run->ingress[host]);
    if (was == is || g->bytes <= 0)
        return op->ns;
    double old = fmin(wire_bytes(g) / was * 1e9, (double)op->ns);
    return op->ns + (int64_t)(wire_bytes(g) / is * 1e9 - old);
}

static void group_arrive(struct run *run, uint32_t number, uint32_t rank, int64_t now) {
    struct group_state *s = &run->groups[number];
    s->arrived++;
    s->last_ns = now;
    if (run->p->groups[number].root == rank)
        s->root_ns = now;
    group_release(run, number);
}

/* ---- ranks ---- */

static double share_kept(const struct budget_shares *s, const double *keep) {
    double quota = s->queue_of_off * s->quota_of_queue, queue = s->queue_of_off - quota;
    double idle =
        fmax(1 - s->queue_of_off - s->steal_of_off - s->disk_of_off - s->memory_of_off, 0);
    return queue * keep[BUDGET_RUN_QUEUE] + quota * keep[BUDGET_QUOTA] +
           s->steal_of_off * keep[BUDGET_STEAL] + s->disk_of_off * keep[BUDGET_DISK] +
           s->memory_of_off * keep[BUDGET_MEMORY] + idle * keep[BUDGET_IDLE];
}

int64_t replay_gap_ns(const struct replay *p, const struct replay_change *change, size_t rank,
                      const struct replay_op *op) {
    double cpu = (double)op->cpu_ns, off = (double)(op->ns - op->cpu_ns);
    if (change && change->keep) {
        const double *keep = &change->keep[(size_t)p->ranks[rank].host * BUDGET_TERMS];
        cpu *= keep[BUDGET_CPU];
        off *= op->first == REPLAY_NONE ? keep[BUDGET_IDLE]
                                        : share_kept(&p->ranks[rank].shares[op->first], keep);
    }
    double speed = change && change->speed ? change->speed[rank] : 1;
    return (int64_t)((cpu + off) / speed);
}

/* The reference rank has come to `measured` at `now`. */
static void pass(struct run *run, int64_t measured, int64_t now) {
    double from = (double)run->passed_ns, length = (double)measured - from;
    for (; run->next_time < run->n_times && run->times[run->next_time] <= measured;
         run->next_time++) {
        double part = length > 0 ? ((double)run->times[run->next_time] - from) / length : 1;
        double at = run->times[run->next_time] < run->passed_ns
                        ? (double)run->times[run->next_time] - from
                        : part * (double)(now - run->passed_at);
        run->ret_times[run->next_time] = run->passed_at + (int64_t)llround(at);
    }
    run->passed_ns = measured;
    run->passed_at = now;
}

static void finish_op(struct run *run, uint32_t rank, const struct replay_op *op) {
    if (rank == run->reference)
        pass(run, op->end_ns, run->ranks[rank].now);
    run->ranks[rank].at++;
}

/* Whether the rank can go on at once; its `now` is then the end of the wait. */
static bool wait_for(struct run *run, uint32_t rank, const struct replay_op *op) {
    struct rank_state *r = &run->ranks[rank];
    r->resume = r->now + op->ns;
    r->missing = 0;
    for (uint32_t i = 0; i < op->n; i++) {
        uint32_t what = run->p->waits[op->first + i];
        uint32_t id = what & ~(REPLAY_OWN_SEND | REPLAY_OWN_GROUP);
        if (what & REPLAY_OWN_GROUP) {
            group_wait(run, id, rank, r->now, 0);
            continue;
        }
        struct message_state *m = &run->messages[id];
        int64_t t = what & REPLAY_OWN_SEND ? m->left_ns : m->arrived_ns;
        if (t == VALUE_ABSENT) {
            *(what & REPLAY_OWN_SEND ? &m->sender_waits : &m->receiver_waits) = true;
            r->missing++;
        } else if (t > r->resume) {
            r->resume = t;
        }
    }
    if (r->missing)
        return false;
    r->now = r->resume + late_ns(run, rank);
    return true;
}

/* One operation that concerns others. False: it waits. */
static bool interact(struct run *run, uint32_t rank, const struct replay_op *op) {
    struct rank_state *r = &run->ranks[rank];
    switch (op->kind) {
    case REPLAY_POST_SEND:
        run->messages[op->first].sent_ns = r->now;
        if (run->p->messages[op->first].buffered)
            run->messages[op->first].left_ns = r->now;
        try_to_go(run, op->first, r->now);
        return true;
    case REPLAY_POST_RECEIVE:
        run->messages[op->first].posted_ns = r->now;
        if (!run->p->messages[op->first].buffered)
            try_to_go(run, op->first, r->now);
        return true;
    case REPLAY_WAIT:
        return wait_for(run, rank, op);
    default:
        r->resume = r->now;
        r->missing = 0;
        group_arrive(run, op->first, rank, r->now);
        if (op->n) {
            r->now += op->ns;
            return true;
        }
        group_wait(run, op->first, rank, r->now, group_ns(run, op, rank));
        if (r->missing)
            return false;
        r->now = r->resume + late_ns(run, rank);
        return true;
    }
}

static void step(struct run *run, uint32_t rank, int64_t now) {
    struct rank_state *r = &run->ranks[rank];
    const struct replay_rank *program = &run->p->ranks[rank];
    while (r->at < program->n && !run->error) {
        const struct replay_op *op = &program->ops[r->at];
        if (op->kind == REPLAY_GAP || op->kind == REPLAY_FIXED) {
            r->now +=
                op->kind == REPLAY_GAP ? replay_gap_ns(run->p, run->change, rank, op) : op->ns;
        } else {
            if (r->now > now) {
                push(run, r->now, EVENT_RANK, rank);
                return;
            }
            r->blocked = !interact(run, rank, op);
            if (r->blocked)
                return;
        }
        finish_op(run, rank, op);
    }
}

/* ---- all of it ---- */

static int run_init(struct run *run) {
    const struct replay *p = run->p;
    size_t hosts = p->scene->n_hosts;
    run->ranks = calloc(p->n_ranks + 1, sizeof *run->ranks);
    run->messages = malloc((p->n_messages + 1) * sizeof *run->messages);
    run->pairs = calloc(p->n_pairs + 1, sizeof *run->pairs);
    run->groups = calloc(p->n_groups + 1, sizeof *run->groups);
    run->active = calloc(p->n_pairs + 1, sizeof *run->active);
    run->active_pairs = calloc(p->n_pairs + 1, sizeof *run->active_pairs);
    run->ended = calloc(p->n_pairs + 1, sizeof *run->ended);
    run->room = calloc(4 * hosts + 1, sizeof *run->room);
    if (!run->ranks || !run->messages || !run->pairs || !run->groups || !run->active ||
        !run->active_pairs || !run->ended || !run->room)
        return -ENOMEM;
    for (size_t i = 0; i < p->n_messages; i++) {
        const struct replay_message *m = &p->messages[i];
        run->messages[i] = (struct message_state){
            VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT, REPLAY_NONE, false, false};
        run->pairs[m->pair] =
            (struct pair_state){.flow = {.from_host = (uint32_t)p->ranks[m->from].host,
                                         .to_host = (uint32_t)p->ranks[m->to].host,
                                         .limit = p->model.pair[m->pair]},
                                .head = REPLAY_NONE,
                                .tail = REPLAY_NONE,
                                .place = REPLAY_NONE,
                                .free_ns = INT64_MIN};
    }
    for (size_t g = 0; g < p->n_groups; g++)
        run->groups[g] = (struct group_state){0, REPLAY_NONE, INT64_MIN, VALUE_ABSENT};
    for (size_t r = 0; r < p->n_ranks; r++) {
        run->ranks[r].now = p->ranks[r].begin_ns;
        if (p->ranks[r].n)
            push(run, run->ranks[r].now, EVENT_RANK, (uint32_t)r);
    }
    return run->error;
}

static int loop(struct run *run) {
    while (run->n_heap && !run->error) {
        struct event e = pop(run);
        if (e.kind == EVENT_RANK) {
            struct rank_state *r = &run->ranks[e.index];
            r->now = e.t_ns;
            if (r->blocked)
                finish_op(run, e.index, &run->p->ranks[e.index].ops[r->at]);
            r->blocked = false;
            step(run, e.index, e.t_ns);
        } else if (e.index == (uint32_t)run->version) {
            flows_end(run, e.t_ns);
        }
        if (run->dirty && (!run->n_heap || run->heap[0].t_ns > e.t_ns)) {
            flows_advance(run, e.t_ns);
            flows_share(run);
        }
        if (run->work > WORK_MAX)
            return -E2BIG;
    }
    for (size_t r = 0; r < run->p->n_ranks && !run->error; r++)
        if (run->ranks[r].at < run->p->ranks[r].n)
            return -EDEADLK;
    return run->error;
}

int replay_run(const struct replay *p, const struct replay_change *change, size_t reference,
               const int64_t *times, size_t n_times, int64_t *ret_times) {
    struct run run = {.p = p,
                      .change = change,
                      .egress = change && change->egress ? change->egress : p->model.egress,
                      .ingress = change && change->ingress ? change->ingress : p->model.ingress,
                      .reference = reference,
                      .times = times,
                      .n_times = n_times,
                      .ret_times = ret_times,
                      .flows_at = INT64_MIN / 2,
                      .passed_ns = p->ranks[reference].begin_ns,
                      .passed_at = p->ranks[reference].begin_ns};
    int result = run_init(&run);
    if (result == 0)
        result = loop(&run);
    for (; run.next_time < n_times; run.next_time++)
        ret_times[run.next_time] = times[run.next_time] - run.passed_ns + run.passed_at;
    free(run.ranks);
    free(run.messages);
    free(run.pairs);
    free(run.groups);
    free(run.waiting);
    free(run.active);
    free(run.active_pairs);
    free(run.ended);
    free(run.room);
    free(run.heap);
    return result;
}
