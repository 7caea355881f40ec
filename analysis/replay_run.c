/* SPDX-License-Identifier: MIT */
/*
 * The replay itself: events in order of time, then of their making. Ranks run on by themselves up
 * to the next thing that concerns another one; flows are shared out anew whenever one begins or
 * ends.
 */
#include <errno.h>
#include <math.h>

#include "analysis/replay_run.h"

#define WORK_MAX 3e9 /* flows looked at */

/* ---- the queue ---- */

static bool is_before(const struct event *a, const struct event *b) {
    return a->t_ns != b->t_ns ? a->t_ns < b->t_ns : a->order < b->order;
}

void replay_push(struct run *run, int64_t t, uint32_t kind, uint32_t index) {
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

int64_t replay_late_ns(const struct run *run, uint32_t rank, uint32_t shares, int64_t late_ns) {
    const struct replay_rank *r = &run->p->ranks[rank];
    if (late_ns == 0 || !run->change || !run->change->keep || shares == REPLAY_NONE)
        return late_ns;
    const double *keep = &run->change->keep[(size_t)r->host * BUDGET_TERMS];
    double quota = r->shares[shares].quota_of_queue;
    return (int64_t)((double)late_ns *
                     (quota * keep[BUDGET_QUOTA] + (1 - quota) * keep[BUDGET_RUN_QUEUE]));
}

/* What the present operation of a rank takes longer for want of a core. */
static int64_t late_ns(const struct run *run, uint32_t rank) {
    const struct replay_op *op = &run->p->ranks[rank].ops[run->ranks[rank].at];
    return replay_late_ns(run, rank, op->shares, op->late_ns);
}

/* When the rank goes on after what it waited for is there. */
static int64_t goes_on(struct run *run, uint32_t rank) {
    const struct rank_state *r = &run->ranks[rank];
    const struct replay_op *op = &run->p->ranks[rank].ops[r->at];
    return replay_quota_wait(run, rank, r->resume + late_ns(run, rank), (double)op->spins);
}

void replay_come(struct run *run, uint32_t rank, int64_t t) {
    struct rank_state *r = &run->ranks[rank];
    r->resume = t > r->resume ? t : r->resume;
    if (--r->missing == 0)
        replay_push(run, goes_on(run, rank), EVENT_RANK, rank);
}

void replay_arrive(struct run *run, uint32_t id, int64_t t, int64_t left) {
    struct message_state *m = &run->messages[id];
    const struct replay_message *as = &run->p->messages[id];
    m->arrived_ns = t;
    if (m->receiver_waits)
        replay_come(run, as->to, t);
    m->receiver_waits = false;
    if (m->left_ns == VALUE_ABSENT)
        m->left_ns = left;
    if (m->sender_waits)
        replay_come(run, as->from, left);
    m->sender_waits = false;
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

int64_t replay_gap_cpu_ns(const struct replay *p, const struct replay_change *change, size_t rank,
                          const struct replay_op *op) {
    double cpu = (double)op->cpu_ns, speed = change && change->speed ? change->speed[rank] : 1;
    if (change && change->keep) {
        const double *keep = &change->keep[(size_t)p->ranks[rank].host * BUDGET_TERMS];
        double memory =
            op->first == REPLAY_NONE ? 0 : p->ranks[rank].shares[op->first].memory_of_cpu;
        cpu *= (1 - memory) * keep[BUDGET_CPU] + memory * keep[BUDGET_MEMORY];
    }
    return replay_bounded_ns(cpu / speed);
}

int64_t replay_gap_ns(const struct replay *p, const struct replay_change *change, size_t rank,
                      const struct replay_op *op) {
    double off = (double)(op->ns - op->cpu_ns);
    double speed = change && change->speed ? change->speed[rank] : 1;
    if (change && change->keep) {
        const double *keep = &change->keep[(size_t)p->ranks[rank].host * BUDGET_TERMS];
        off *= op->first == REPLAY_NONE ? keep[BUDGET_IDLE]
                                        : share_kept(&p->ranks[rank].shares[op->first], keep);
    }
    return replay_gap_cpu_ns(p, change, rank, op) + replay_bounded_ns(off / speed);
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
            replay_group_wait(run, id, rank, r->now,
                              replay_group_ns(run, id, op, op->group_ns, rank));
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
    r->now = goes_on(run, rank);
    return true;
}

/* On the CPU within a call that waits for nobody. */
static int64_t spun_ns(const struct replay_op *op) {
    return (int64_t)((double)op->ns * (double)op->spins);
}

/* One operation that concerns others. False: it waits. */
static bool interact(struct run *run, uint32_t rank, const struct replay_op *op) {
    struct rank_state *r = &run->ranks[rank];
    r->waits_ns = r->now;
    switch (op->kind) {
    case REPLAY_POST_SEND:
        run->messages[op->first].sent_ns = r->now;
        if (run->p->messages[op->first].buffered)
            run->messages[op->first].left_ns = r->now;
        replay_try_to_go(run, op->first, r->now);
        return true;
    case REPLAY_POST_RECEIVE:
        run->messages[op->first].posted_ns = r->now;
        if (!run->p->messages[op->first].buffered)
            replay_try_to_go(run, op->first, r->now);
        return true;
    case REPLAY_WAIT:
        return wait_for(run, rank, op);
    default:
        r->resume = r->now;
        r->missing = 0;
        replay_group_arrive(run, op->first, rank, r->now);
        if (op->n) {
            r->now = replay_quota_spend(run, rank, op->ns, spun_ns(op)) + late_ns(run, rank);
            return true;
        }
        replay_group_wait(run, op->first, rank, r->now,
                          replay_group_ns(run, op->first, op, op->ns, rank));
        if (r->missing)
            return false;
        r->now = goes_on(run, rank);
        return true;
    }
}

/* When it is through with an operation that concerns nobody else. */
static int64_t run_by_itself(struct run *run, uint32_t rank, const struct replay_op *op) {
    if (op->kind == REPLAY_FIXED)
        return replay_quota_spend(run, rank, op->ns, spun_ns(op)) + late_ns(run, rank);
    return replay_quota_spend(run, rank, replay_gap_ns(run->p, run->change, rank, op),
                              replay_gap_cpu_ns(run->p, run->change, rank, op));
}

static void step(struct run *run, uint32_t rank, int64_t now) {
    struct rank_state *r = &run->ranks[rank];
    const struct replay_rank *program = &run->p->ranks[rank];
    while (r->at < program->n && !run->error) {
        const struct replay_op *op = &program->ops[r->at];
        if (!time_is_sane(r->now)) {
            run->error = -E2BIG;
            return;
        }
        if (op->kind == REPLAY_GAP || op->kind == REPLAY_FIXED) {
            r->now = run_by_itself(run, rank, op);
        } else {
            if (r->now > now) {
                replay_push(run, r->now, EVENT_RANK, rank);
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

/* Of what crosses both links; 1: nothing has changed. */
static double pace_of(const struct run *run, const struct replay_message *m) {
    const struct replay_rank *ranks = run->p->ranks;
    if (!run->change || !run->change->pace)
        return 1;
    return run->change->pace[ranks[m->from].host] *
           run->change->pace[run->p->scene->n_hosts + (size_t)ranks[m->to].host];
}

/* The slowest link on the way holds up all members. */
static double largest_pace(const struct run *run) {
    double pace = 1;
    for (size_t i = 0; run->change && run->change->pace && i < 2 * run->p->scene->n_hosts; i++)
        pace = fmax(pace, run->change->pace[i]);
    return pace;
}

/* Buckets are full at the start. */
static int init_links(struct run *run) {
    size_t links = 2 * run->p->scene->n_hosts;
    const struct replay_model *m = &run->p->model;
    run->tokens = calloc(links + 1, sizeof *run->tokens);
    run->crossing = calloc(links + 1, sizeof *run->crossing);
    run->capacity = calloc(links + 1, sizeof *run->capacity);
    run->load = calloc(links + 1, sizeof *run->load);
    if (!run->tokens || !run->crossing || !run->capacity || !run->load)
        return -ENOMEM;
    for (size_t link = 0; link < links; link++) {
        size_t h = link % (links / 2);
        double burst = run->change && run->change->burst ? run->change->burst[link] : -1;
        run->burst = burst >= 0 ? run->change->burst : run->burst;
        run->tokens[link] = fmax(burst, 0);
        run->other_links |=
            replay_link_rate(run, link) != (link == h ? m->egress[h] : m->ingress[h]);
    }
    return 0;
}

static int run_init(struct run *run) {
    const struct replay *p = run->p;
    size_t hosts = p->scene->n_hosts;
    int result = init_links(run);
    if (result == 0)
        result = replay_quota_init(run);
    if (result < 0)
        return result;
    run->group_pace = largest_pace(run);
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
                                         .limit = p->model.pair[m->pair] * pace_of(run, m)},
                                .head = REPLAY_NONE,
                                .tail = REPLAY_NONE,
                                .place = REPLAY_NONE,
                                .free_ns = INT64_MIN};
    }
    for (size_t g = 0; g < p->n_groups; g++)
        run->groups[g] =
            (struct group_state){0, REPLAY_NONE, INT64_MIN, VALUE_ABSENT, VALUE_ABSENT, 0};
    for (size_t r = 0; r < p->n_ranks; r++) {
        run->ranks[r].now = p->ranks[r].begin_ns;
        if (p->ranks[r].n)
            replay_push(run, run->ranks[r].now, EVENT_RANK, (uint32_t)r);
    }
    return run->error;
}

static int loop(struct run *run) {
    while (run->n_heap && !run->error) {
        struct event e = pop(run);
        if (!time_is_sane(e.t_ns))
            return -E2BIG;
        if (e.kind == EVENT_RANK) {
            struct rank_state *r = &run->ranks[e.index];
            r->now = e.t_ns;
            if (r->blocked)
                finish_op(run, e.index, &run->p->ranks[e.index].ops[r->at]);
            r->blocked = false;
            step(run, e.index, e.t_ns);
        } else if (e.index == (uint32_t)run->version) {
            replay_flows_end(run, e.t_ns);
        }
        if (run->dirty && (!run->n_heap || run->heap[0].t_ns > e.t_ns)) {
            replay_flows_advance(run, e.t_ns);
            replay_flows_share(run);
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
    free(run.tokens);
    free(run.quota);
    free(run.crossing);
    free(run.capacity);
    free(run.load);
    free(run.heap);
    return result;
}
