/* SPDX-License-Identifier: MIT */
/* Group calls: who can go on once who has come. */
#include <errno.h>
#include <math.h>

#include "analysis/replay_run.h"

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
        replay_come(run, item->rank,
                    (ready > item->arrived_ns ? ready : item->arrived_ns) + item->ns);
    }
    s->waiting = kept;
}

void replay_group_wait(struct run *run, uint32_t number, uint32_t rank, int64_t now, int64_t ns) {
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
static int64_t carried_ns(const struct run *run, const struct replay_group *g, int64_t ns,
                          size_t rank) {
    size_t host = (size_t)run->p->ranks[rank].host;
    const struct replay_model *m = &run->p->model;
    double was = fmin(m->egress[host], m->ingress[host]);
    double is = fmin(run->egress[host], run->ingress[host]);
    if (isinf(was) && isinf(is) && g->bytes > 0)
        return (int64_t)((double)ns / run->group_pace);
    if (was == is || g->bytes <= 0)
        return ns;
    double old = fmin(wire_bytes(g) / was * 1e9, (double)ns);
    return ns + (int64_t)(wire_bytes(g) / is * 1e9 - old);
}

int64_t replay_group_ns(const struct run *run, uint32_t number, const struct replay_op *op,
                        int64_t ns, size_t rank) {
    const struct replay_group *g = &run->p->groups[number];
    int64_t held = replay_held_up_ns(g, op, ns, rank);
    if (!held)
        return carried_ns(run, g, ns, rank);
    return carried_ns(run, g, ns - held, rank) +
           replay_late_ns(run, g->late_rank, g->late_shares, held);
}

void replay_group_arrive(struct run *run, uint32_t number, uint32_t rank, int64_t now) {
    struct group_state *s = &run->groups[number];
    s->arrived++;
    s->last_ns = now;
    if (run->p->groups[number].root == rank)
        s->root_ns = now;
    group_release(run, number);
}
