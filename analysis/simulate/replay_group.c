/* SPDX-License-Identifier: MIT */
/*
 * Group calls. A member goes on once the others that it needs have come and, if links are changed,
 * once the bytes of the call are through: all members wait for the slowest link. A member that only
 * gives its part to a root waits for nobody, but its stay grows with the time of the bytes. Which
 * member comes last depends on the others; of two that come together, neither is the last.
 */
#include <errno.h>
#include <math.h>

#include "analysis/simulate/replay_run.h"

#define AT_ONCE (-TIME_SANE_NS)
#define BUFFERED 65536 /* a rank that gives at most this many bytes does not see them leave */

static int64_t later(int64_t came_ns, const struct group_state *s) {
    return came_ns != VALUE_ABSENT && s->carried_ns != VALUE_ABSENT && s->carried_ns > came_ns
               ? s->carried_ns
               : came_ns;
}

static bool only_gives(const struct replay_group *g, size_t rank) {
    return g->need == MPI_NEED_GATHERED && g->root != rank;
}

/* When a member can go on; VALUE_ABSENT if not known yet. */
static int64_t group_ready(const struct run *run, uint32_t number, uint32_t rank) {
    const struct replay_group *g = &run->p->groups[number];
    const struct group_state *s = &run->groups[number];
    bool all = s->arrived == g->members;
    int64_t at_once =
        s->carried_ns != VALUE_ABSENT && g->bytes > BUFFERED ? s->carried_ns : AT_ONCE;
    switch (g->need) {
    case MPI_NEED_ROOT:
        return g->root == rank || g->root == REPLAY_NONE ? at_once : later(s->root_ns, s);
    case MPI_NEED_GATHERED:
        return only_gives(g, rank) ? AT_ONCE : all ? later(s->last_ns, s) : VALUE_ABSENT;
    case MPI_NEED_NOBODY:
        return AT_ONCE;
    default:
        return all ? later(s->last_ns, s) : VALUE_ABSENT;
    }
}

/* A member's stay without the time of its bytes, which the replay computes anew. */
static int64_t beside_bytes(const struct run *run, uint32_t number, uint32_t rank, int64_t ns) {
    const struct group_state *s = &run->groups[number];
    if (s->carried_ns == VALUE_ABSENT || only_gives(&run->p->groups[number], rank))
        return ns;
    return ns > s->was_ns ? ns - s->was_ns : 0;
}

static void group_release(struct run *run, uint32_t number) {
    struct group_state *s = &run->groups[number];
    uint32_t kept = REPLAY_NONE;
    for (uint32_t w = s->waiting, next; w != REPLAY_NONE; w = next) {
        struct waiting *item = &run->waiters.at[w];
        next = item->next;
        int64_t ready = group_ready(run, number, item->rank);
        if (ready == VALUE_ABSENT) {
            item->next = kept;
            kept = w;
            continue;
        }
        replay_come(run, item->rank,
                    (ready > item->arrived_ns ? ready : item->arrived_ns) +
                        beside_bytes(run, number, item->rank, item->ns));
    }
    s->waiting = kept;
}

void replay_group_wait(struct run *run, uint32_t number, uint32_t rank, int64_t now, int64_t ns) {
    struct rank_state *r = &run->ranks[rank];
    int64_t ready = group_ready(run, number, rank);
    if (ready != VALUE_ABSENT) {
        int64_t t = (ready > now ? ready : now) + beside_bytes(run, number, rank, ns);
        r->resume = t > r->resume ? t : r->resume;
        return;
    }
    struct waiters *all = &run->waiters;
    if (!replay_room(&all->at, all->n, &all->capacity, sizeof *all->at)) {
        run->error = -ENOMEM;
        return;
    }
    all->at[all->n] = (struct waiting){rank, run->groups[number].waiting, now, ns};
    run->groups[number].waiting = (uint32_t)all->n++;
    r->missing++;
}

/* ---- bytes ---- */

static double seconds_as_measured(const struct run *run, const struct replay_group *g) {
    const struct replay_network *m = &run->p->net;
    size_t hosts = run->p->model->n_hosts;
    for (size_t h = 0; h < hosts; h++) {
        run->load[h] /= m->egress[h];
        run->load[hosts + h] /= m->ingress[h];
    }
    return replay_wire_s(g, run->load, hosts);
}

static double seconds_now(struct run *run, const struct replay_group *g) {
    size_t hosts = run->p->model->n_hosts;
    for (size_t link = 0; link < 2 * hosts; link++)
        if (run->load[link] > 0)
            run->load[link] = replay_bucket_take(run, link, run->load[link]);
    return replay_wire_s(g, run->load, hosts);
}

/* Hands the bytes to the links: all members that the call needs have come. */
static void carry(struct run *run, uint32_t number, int64_t now) {
    const struct replay_group *g = &run->p->groups[number];
    struct group_state *s = &run->groups[number];
    if (!run->other_links || !(g->bytes > 0) || s->carried_ns != VALUE_ABSENT)
        return;
    if (run->burst)
        replay_flows_advance(run, now);
    replay_wire_load(run->p, g, run->load);
    double was = seconds_as_measured(run, g);
    replay_wire_load(run->p, g, run->load);
    double is = seconds_now(run, g);
    run->work += 4 * (double)run->p->model->n_hosts + 2 * (double)g->members;
    if (was == is)
        return;
    s->was_ns = replay_bounded_ns(was * 1e9);
    s->carried_ns = now + replay_bounded_ns(is * 1e9);
}

/* Whether the link of its host, or of the host that receives everything, has a limit. */
static bool limits_member(const struct run *run, const struct replay_group *g, size_t rank) {
    const struct replay_network *m = &run->p->net;
    size_t host = (size_t)run->p->ranks[rank].host;
    double limit =
        fmin(fmin(m->egress[host], m->ingress[host]), fmin(run->egress[host], run->ingress[host]));
    if (only_gives(g, rank) && g->root != REPLAY_NONE) {
        size_t to = (size_t)run->p->ranks[g->root].host;
        limit = fmin(limit, fmin(m->ingress[to], run->ingress[to]));
    }
    return isfinite(limit);
}

/* Whether the members that it needs have yet to come. */
static bool is_early(const struct run *run, uint32_t number, size_t rank) {
    int64_t ready = group_ready(run, number, (uint32_t)rank);
    return ready == VALUE_ABSENT || ready > run->ranks[rank].now;
}

static bool is_between_hosts(const struct run *run, const struct replay_group *g) {
    double *load = run->load, sum = 0;
    replay_wire_load(run->p, g, load);
    for (size_t link = 0; link < 2 * run->p->model->n_hosts; link++)
        sum += load[link];
    return sum > 0;
}

/* The time of calls that no link explains, but that cross a link made faster: a member that needs
 * others takes at least as long as in calls of few bytes.
 */
static int64_t paced_ns(const struct run *run, uint32_t number, int64_t ns, size_t rank) {
    const struct replay_group *g = &run->p->groups[number];
    double few = 0, was = (double)ns;
    if (replay_latency(run) != 1 && is_between_hosts(run, g))
        return ns - (int64_t)((1 - replay_latency(run)) * fmin(was, run->p->net.few_ns[0]));
    if (limits_member(run, g, rank) || g->bytes <= 0)
        return ns;
    if (replay_needs_any(g, rank))
        few = run->p->net.few_ns[is_early(run, number, rank)];
    double beside = fmin(was, few);
    return (int64_t)(run->group_pace < 1 ? beside + (was - beside) / run->group_pace
                                         : fmax(was / run->group_pace, beside));
}

/* Additional time of all bytes of the call on changed links, without bursts; computed once a call.
 */
static int64_t longer_ns(struct run *run, uint32_t number) {
    const struct replay_group *g = &run->p->groups[number];
    struct group_state *s = &run->groups[number];
    size_t hosts = run->p->model->n_hosts;
    if (s->longer_ns != VALUE_ABSENT)
        return s->longer_ns;
    replay_wire_load(run->p, g, run->load);
    double was = seconds_as_measured(run, g);
    replay_wire_load(run->p, g, run->load);
    for (size_t link = 0; link < 2 * hosts; link++)
        run->load[link] /= replay_link_rate(run, link);
    double is = replay_wire_s(g, run->load, hosts);
    run->work += 4 * (double)hosts + 2 * (double)g->members;
    s->longer_ns = replay_bounded_ns(fmax((is - was) * 1e9, -(double)TIME_SANE_NS));
    return s->longer_ns;
}

static int64_t giving_ns(struct run *run, uint32_t number, int64_t ns, size_t rank) {
    const struct replay_group *g = &run->p->groups[number];
    if (!run->other_links || !only_gives(g, rank) || g->bytes <= BUFFERED)
        return ns;
    int64_t longer = longer_ns(run, number);
    return ns + longer > 0 ? ns + longer : 0;
}

int64_t replay_group_ns(struct run *run, uint32_t number, const struct replay_op *op, int64_t ns,
                        size_t rank) {
    int64_t held = op->held_ns < ns ? op->held_ns : ns;
    int64_t own = giving_ns(run, number, paced_ns(run, number, ns - held, rank), rank);
    return held ? own + replay_late_ns(run, op->held_rank, op->held_shares, held) : own;
}

void replay_group_arrive(struct run *run, uint32_t number, uint32_t rank, int64_t now) {
    struct group_state *s = &run->groups[number];
    s->arrived++;
    s->last_ns = now;
    const struct replay_group *g = &run->p->groups[number];
    if (g->root == rank)
        s->root_ns = now;
    if (g->need == MPI_NEED_ROOT ? g->root == rank : s->arrived == g->members)
        carry(run, number, now);
    group_release(run, number);
}
