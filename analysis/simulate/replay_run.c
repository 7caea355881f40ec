/* SPDX-License-Identifier: MIT */
/*
 * The replay itself: events in order of time, then of creation. Whenever a flow begins or ends, the
 * rates of all flows that share a link with it, directly or through others, are computed anew.
 */
#include <errno.h>
#include <math.h>

#include "analysis/simulate/replay_run.h"

#define WORK_MAX 3e9   /* flows looked at in all */
#define EASED_MAX 0.95 /* of a message's time: the most that changed cores can save */

/* Factor on transfers that no link explains and that cross both links; 1: unchanged. */
static double pace_factor(const struct run *run, const struct replay_message *m) {
    const struct replay_rank *ranks = run->p->ranks;
    if (!run->change || !run->change->pace)
        return 1;
    return run->change->pace[ranks[m->from].host] *
           run->change->pace[run->p->model->n_hosts + (size_t)ranks[m->to].host];
}

static int init_eased(struct run *run) {
    size_t hosts = run->p->model->n_hosts;
    const double *descheduled = run->p->net.descheduled;
    run->eased = malloc((hosts + 1) * sizeof *run->eased);
    if (!run->eased)
        return -ENOMEM;
    for (size_t h = 0; h < hosts; h++) {
        const double *keep =
            run->change && run->change->keep ? run->change->keep + h * BUDGET_TERMS : NULL;
        double freed = keep ? descheduled[h] * (1 - keep[BUDGET_RUN_QUEUE]) +
                                  descheduled[hosts + h] * (1 - keep[BUDGET_QUOTA])
                            : 0;
        run->eased[h] = 1 - fmin(fmax(freed, 0), EASED_MAX);
    }
    return 0;
}

/* The most that a pair carries if its link is faster and its messages do not show the rate: at both
 * ends a byte costs a copy and a protocol. A pair that already moved nearly as much can do more.
 */
#define COPIED_BYTES_S 2.5e9

static double freed_of(const struct replay_network *model, uint32_t pair, size_t from, size_t to) {
    double freed = model->freed[pair];
    double was = fmin(model->egress[from], model->ingress[to]);
    return isfinite(freed) || !isfinite(was) ? freed : fmax(COPIED_BYTES_S, 2 * was);
}

/* The most that a pair carries. */
static double limit_of(const struct run *run, const struct replay_message *m) {
    const struct replay_network *model = &run->p->net;
    size_t from = (size_t)run->p->ranks[m->from].host, to = (size_t)run->p->ranks[m->to].host;
    double limit = model->pair[m->pair] * pace_factor(run, m);
    limit = fmax(limit, fmin(limit / replay_eased(run, m), model->soon[m->pair]));
    bool freed = run->egress[from] > model->egress[from] || run->ingress[to] > model->ingress[to];
    return freed ? fmin(limit, freed_of(model, m->pair, from, to)) : limit;
}

/* The slowest link on the way holds up all members. Which one that is, is known only if it is the
 * one made slower.
 */
static double group_pace(const struct run *run) {
    double largest = 1, least = 1;
    for (size_t i = 0; run->change && run->change->pace && i < 2 * run->p->model->n_hosts; i++) {
        largest = fmax(largest, run->change->pace[i]);
        least = fmin(least, run->change->pace[i]);
    }
    return least < 1 ? least : largest;
}

/* Buckets are full at the start. */
static int init_links(struct run *run) {
    size_t links = 2 * run->p->model->n_hosts;
    const struct replay_network *m = &run->p->net;
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
    int result = replay_components_init(run);
    if (result == 0)
        replay_buckets_open(run);
    return result;
}

static int run_init(struct run *run) {
    const struct replay *p = run->p;
    size_t hosts = p->model->n_hosts;
    int result = init_links(run);
    if (result == 0)
        result = init_eased(run);
    if (result == 0)
        result = replay_quota_init(run);
    if (result < 0)
        return result;
    run->group_pace = group_pace(run);
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
            VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT,
            REPLAY_NONE,  REPLAY_NONE,  false,        false,        false};
        run->pairs[m->pair] =
            (struct pair_state){.flow = {.from_host = (uint32_t)p->ranks[m->from].host,
                                         .to_host = (uint32_t)p->ranks[m->to].host,
                                         .limit = limit_of(run, m)},
                                .head = REPLAY_NONE,
                                .tail = REPLAY_NONE,
                                .place = REPLAY_NONE,
                                .free_ns = INT64_MIN};
    }
    for (size_t g = 0; g < p->n_groups; g++)
        run->groups[g] = (struct group_state){0, REPLAY_NONE, INT64_MIN, VALUE_ABSENT, VALUE_ABSENT,
                                              0, VALUE_ABSENT};
    for (size_t r = 0; r < p->n_ranks; r++) {
        run->ranks[r].now = p->ranks[r].begin_ns;
        if (p->ranks[r].n)
            replay_push(run, run->ranks[r].now, EVENT_RANK, (uint32_t)r);
    }
    return run->error;
}

static int loop(struct run *run) {
    while (run->n_heap && !run->error) {
        struct event e = replay_pop(run);
        if (!time_is_sane(e.t_ns))
            return -E2BIG;
        if (e.kind == EVENT_RANK) {
            struct rank_state *r = &run->ranks[e.index];
            r->now = e.t_ns;
            if (r->blocked)
                replay_finish_op(run, e.index, &run->p->ranks[e.index].ops[r->at]);
            r->blocked = false;
            replay_step(run, e.index, e.t_ns);
        } else if (e.kind == EVENT_LEAVE) {
            replay_leave(run, e.index, e.t_ns);
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
                      .egress = change && change->egress ? change->egress : p->net.egress,
                      .ingress = change && change->ingress ? change->ingress : p->net.ingress,
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
    free(run.waiters.at);
    free(run.active);
    free(run.active_pairs);
    free(run.ended);
    replay_components_release(&run);
    free(run.room);
    free(run.tokens);
    free(run.quota);
    free(run.eased);
    free(run.crossing);
    free(run.capacity);
    free(run.load);
    free(run.heap);
    return result;
}
