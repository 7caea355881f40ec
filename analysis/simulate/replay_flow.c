/* SPDX-License-Identifier: MIT */
/*
 * Messages under way. Messages of one pair of ranks follow each other. Large ones are flows that
 * share links; small ones take a latency and the time of their bytes.
 */
#include <math.h>

#include "analysis/simulate/replay_run.h"

#define HANDED_OVER_PART                                                                           \
    0.5 /* of its transfer time: a sender that waits less handed it over to a                      \
           buffer */

void replay_flows_advance(struct run *run, int64_t now) {
    double s = (double)(now - run->flows_at) / 1e9;
    for (size_t i = 0; s > 0 && i < run->n_active; i++)
        run->active[i]->left -= run->active[i]->rate * s;
    if (s > 0)
        replay_buckets_advance(run, s);
    run->work += (double)run->n_active;
    run->flows_at = now;
}

static void activate(struct run *run, uint32_t pair) {
    struct pair_state *p = &run->pairs[pair];
    p->flow.left = run->p->messages[p->head].bytes;
    replay_component_begin(run, &p->flow);
    p->place = (uint32_t)run->n_active;
    run->active[run->n_active] = &p->flow;
    run->active_pairs[run->n_active++] = pair;
    run->dirty = true;
}

static void deactivate(struct run *run, uint32_t pair) {
    uint32_t place = run->pairs[pair].place;
    replay_component_end(run, &run->pairs[pair].flow);
    run->pairs[pair].place = REPLAY_NONE;
    run->n_active--;
    run->active[place] = run->active[run->n_active];
    run->active_pairs[place] = run->active_pairs[run->n_active];
    if (place < run->n_active)
        run->pairs[run->active_pairs[place]].place = place;
    run->dirty = true;
}

double replay_eased(const struct run *run, const struct replay_message *m) {
    const struct replay_rank *ranks = run->p->ranks;
    return fmin(run->eased[ranks[m->from].host], run->eased[ranks[m->to].host]);
}

static double latency(const struct run *run, const struct replay_message *m, bool between) {
    const struct replay_network *model = &run->p->net;
    double usual = model->latency_ns[between][m->polled];
    double eased = fmax(usual * replay_eased(run, m), model->soon_ns[between][m->polled]);
    return fmin(usual, eased) * (between ? replay_latency(run) : 1);
}

/* The latency of a large message; its rate was computed from its time without this
 * (replay_piece.c).
 */
static int64_t latency_of_flow(const struct run *run, const struct replay_message *m) {
    return (int64_t)replay_latency_within(latency(run, m, true), replay_begin_ns(m), m->done_ns);
}

/* The sender's time without a core while the message should have moved. */
static int64_t kept_back(const struct run *run, const struct replay_message *m) {
    return replay_late_ns(run, m->from, m->late_shares, m->late_ns);
}

static void go_within(struct run *run, uint32_t id, int64_t now) {
    const struct replay_message *m = &run->p->messages[id];
    struct pair_state *pair = &run->pairs[m->pair];
    int64_t start = now > pair->free_ns ? now : pair->free_ns;
    int64_t end = start + replay_bounded_ns(m->bytes / run->p->net.within * 1e9);
    pair->free_ns = end < TIME_SANE_NS ? end : TIME_SANE_NS;
    replay_arrive(run, id, end + (int64_t)latency(run, m, false) + kept_back(run, m), end);
}

/* The time that links need for a message too small for a flow. */
static int64_t small_ns(struct run *run, const struct pair_state *pair, double bytes, int64_t now) {
    size_t hosts = run->p->model->n_hosts;
    if (run->burst)
        replay_flows_advance(run, now);
    double out = replay_bucket_take(run, pair->flow.from_host, bytes);
    double in = replay_bucket_take(run, hosts + pair->flow.to_host, bytes);
    return replay_bounded_ns(fmax(out, in) * 1e9);
}

/* How long after it could move the sender handed the message over to the system's buffers, long
 * before it arrived; -1 if it did not.
 */
static int64_t handed_over_ns(const struct run *run, const struct replay_message *m) {
    const struct replay_rank *ranks = run->p->ranks;
    int64_t begin = replay_begin_ns(m);
    int64_t bound = call_clock_bound(&run->p->model->clock, ranks[m->from].host, ranks[m->to].host);
    if (m->buffered || m->left_ns == VALUE_ABSENT || m->left_ns < begin || bound == INT64_MAX ||
        (double)(m->left_ns - begin + bound) > HANDED_OVER_PART * (double)(m->done_ns - begin))
        return -1;
    return m->left_ns - begin;
}

/* Whether the message has to wait until one of its receiver's has arrived, which moves already. */
static bool is_held_up(const struct run *run, uint32_t id) {
    uint32_t behind = run->p->messages[id].behind;
    if (behind == REPLAY_NONE)
        return false;
    const struct message_state *other = &run->messages[behind];
    return other->sent_ns != VALUE_ABSENT && other->posted_ns != VALUE_ABSENT &&
           other->arrived_ns == VALUE_ABSENT;
}

static void go(struct run *run, uint32_t id, int64_t now) {
    const struct replay_message *m = &run->p->messages[id];
    struct pair_state *pair = &run->pairs[m->pair];
    if (is_held_up(run, id)) {
        run->messages[id].next = run->messages[m->behind].held_up;
        run->messages[m->behind].held_up = id;
        return;
    }
    if (m->signal) {
        replay_arrive(run, id, now + replay_signal_ns(m) + kept_back(run, m), now);
        return;
    }
    if (pair->flow.from_host == pair->flow.to_host) {
        go_within(run, id, now);
        return;
    }
    int64_t handed_over = handed_over_ns(run, m);
    if (handed_over >= 0)
        replay_push(run, now + handed_over, EVENT_LEAVE, id);
    if (m->bytes < REPLAY_FLOW_BYTES && pair->head == REPLAY_NONE) {
        int64_t on_links = small_ns(run, pair, m->bytes, now);
        int64_t delay = (int64_t)latency(run, m, true) + kept_back(run, m);
        replay_arrive(run, id, now + delay + on_links, now);
        return;
    }
    run->messages[id].next = REPLAY_NONE;
    if (pair->head != REPLAY_NONE) {
        run->messages[pair->tail].next = id;
        pair->tail = id;
        return;
    }
    replay_flows_advance(run, now);
    pair->head = pair->tail = id;
    activate(run, m->pair);
}

void replay_go_behind(struct run *run, uint32_t id, int64_t now) {
    uint32_t first = run->messages[id].held_up;
    run->messages[id].held_up = REPLAY_NONE;
    while (first != REPLAY_NONE) {
        uint32_t next = run->messages[first].next;
        go(run, first, now);
        first = next;
    }
}

static bool has_ended(const struct replay_flow *flow) {
    return flow->left <= fmax(flow->rate, 1) * 1e-9 + 1e-6;
}

void replay_flows_end(struct run *run, int64_t now) {
    size_t n = 0;
    replay_flows_advance(run, now);
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
        replay_arrive(run, id, now + latency_of_flow(run, m) + kept_back(run, m), now);
    }
    run->dirty = true;
}

/* Seconds until the first flow ends. */
static double first_end(const struct run *run) {
    double first = INFINITY;
    for (size_t i = 0; i < run->n_active; i++) {
        double left = run->active[i]->left, s = (left > 0 ? left : 0) / run->active[i]->rate;
        first = s < first ? s : first;
    }
    return first;
}

void replay_flows_share(struct run *run) {
    struct components *c = &run->components;
    size_t hosts = run->p->model->n_hosts;
    run->dirty = false;
    run->version++;
    if (run->burst)
        replay_buckets_open(run);
    replay_components_find(run);
    run->work += (double)replay_share(c->changed, c->n_changed, run->capacity,
                                      run->capacity + hosts, hosts, run->room);
    double first = fmin(replay_buckets_until(run), first_end(run));
    if (run->n_active)
        replay_push(run, run->flows_at + replay_bounded_ns(ceil(first * 1e9)), EVENT_FLOWS,
                    (uint32_t)run->version);
}

/* The envelope of a message that waits for its receiver comes first. */
static void announce(struct run *run, uint32_t id, int64_t now) {
    const struct replay_message *m = &run->p->messages[id];
    struct message_state *state = &run->messages[id];
    if (state->envelope_ns == VALUE_ABSENT && !m->buffered)
        replay_envelope(run, id, now + (int64_t)latency(run, m, replay_is_between(run->p, m)));
}

void replay_try_to_go(struct run *run, uint32_t id, int64_t now) {
    const struct message_state *m = &run->messages[id];
    if (m->sent_ns != VALUE_ABSENT)
        announce(run, id, now);
    if (m->sent_ns != VALUE_ABSENT &&
        (run->p->messages[id].buffered || m->posted_ns != VALUE_ABSENT))
        go(run, id, now);
}
