/* SPDX-License-Identifier: MIT */
/* Members of a group call that were held up by a rank without a core. The members' own counters do
 * not show it.
 */
#include <math.h>

#include "analysis/simulate/replay_build.h"

#define SOON 0.5 /* of its absence: the rank's part of the call is done this soon after it */

/* The last absence of the other rank that ended within the last ns of this rank's stay. If this
 * rank left while the other had no core, it did not need it, except in a call of several exchanges.
 * If it left much later, it had other work.
 */
static struct replay_away held_by(const struct replay_group *g, const struct replay_rank *late,
                                  const struct replay_op *op, int64_t ns) {
    int64_t end = op->end_ns - op->late_ns;
    return g->turns ? replay_away_amid(late, end - ns, end, SOON)
                    : replay_away(late, end - ns, end, SOON);
}

struct holder {
    int64_t ns;
    uint32_t rank, shares;
};

/* The member that held it up longest. */
static struct holder holder_of(const struct replay *p, const struct replay_group *g,
                               const struct replay_op *op, int64_t ns, size_t rank) {
    struct holder holder = {.shares = REPLAY_NONE};
    for (uint32_t m = 0; m < g->members && holder.ns < ns; m++) {
        uint32_t late = p->group_members[g->first_member + m];
        if (!p->ranks[late].n_absences || !replay_needs(g, rank, late))
            continue;
        struct replay_away away = held_by(g, &p->ranks[late], op, ns);
        if ((int64_t)away.ns > holder.ns)
            holder =
                (struct holder){(int64_t)away.ns < ns ? (int64_t)away.ns : ns, late, away.shares};
    }
    return holder;
}

/* One operation may wait for several group calls. */
static void note_held_up(struct replay *p, uint32_t number, struct replay_op *op, int64_t ns,
                         size_t rank) {
    struct replay_group *g = &p->groups[number];
    if (ns < MPI_LONG_NS)
        return; /* absences are never as short */
    struct holder holder = holder_of(p, g, op, ns, rank);
    if (holder.ns > op->held_ns) {
        op->held_ns = holder.ns;
        op->held_rank = holder.rank;
        op->held_shares = holder.shares;
    }
    if (holder.ns > g->held_ns) {
        g->held_ns = holder.ns;
        g->late_rank = holder.rank;
        g->late_shares = holder.shares;
    }
}

/* ---- calls that all are through with together ---- */

#define TOGETHER 0.1 /* of the longer of two stays: they ended together */

static int64_t stay_ns(const struct replay_op *op) {
    return op->ns + op->late_ns;
}

static bool end_together(const struct replay_op *a, const struct replay_op *b) {
    double longer = (double)(stay_ns(a) > stay_ns(b) ? stay_ns(a) : stay_ns(b));
    return fabs((double)(a->end_ns - b->end_ns)) <= TOGETHER * longer;
}

/* The operation of another rank that ends together with this one, or NULL. */
static const struct replay_op *ending_with(const struct replay_rank *rank,
                                           const struct replay_op *op) {
    for (size_t i = 0; i < rank->n && rank->ops[i].end_ns - stay_ns(op) <= op->end_ns; i++)
        if (rank->ops[i].kind == REPLAY_FIXED && rank->ops[i].n && end_together(op, &rank->ops[i]))
            return &rank->ops[i];
    return NULL;
}

/* A rank is held up by the time that another lost beyond its own loss; its own time on the CPU was
 * its own work.
 */
static void note_together(struct replay *p, struct replay_op *op, size_t rank) {
    int64_t off = (int64_t)((double)op->ns * (1 - (double)op->spins));
    for (size_t r = 0; r < p->n_ranks; r++) {
        const struct replay_op *other = r == rank ? NULL : ending_with(&p->ranks[r], op);
        int64_t more = other ? other->late_ns - op->late_ns : 0;
        more = more < off ? more : off;
        if (more <= op->held_ns)
            continue;
        op->held_ns = more;
        op->held_rank = (uint32_t)r;
        op->held_shares = other->shares;
    }
}

void replay_find_held_up(struct replay *p) {
    for (size_t r = 0; r < p->n_ranks; r++)
        for (size_t i = 0; i < p->ranks[r].n; i++) {
            struct replay_op *op = &p->ranks[r].ops[i];
            if (op->kind == REPLAY_FIXED && op->n)
                note_together(p, op, r);
            if (op->kind == REPLAY_GROUP && !op->n)
                note_held_up(p, op->first, op, op->ns, r);
            for (uint32_t w = 0; op->kind == REPLAY_WAIT && w < op->n; w++) {
                uint32_t what = p->waits[op->first + w];
                if (what & REPLAY_OWN_GROUP)
                    note_held_up(p, what & ~REPLAY_OWN_GROUP, op, op->group_ns, r);
            }
        }
}

static double share_of(const struct replay_rank *rank, uint32_t shares, enum budget_term term) {
    double quota = shares == REPLAY_NONE ? NAN : rank->shares[shares].quota_of_queue;
    return isnan(quota) ? 0 : term == BUDGET_QUOTA ? quota : 1 - quota;
}

double replay_hidden_s(const struct replay *p, int host, enum budget_term term) {
    double sum = 0;
    if (!p || (term != BUDGET_QUOTA && term != BUDGET_RUN_QUEUE))
        return 0;
    for (size_t r = 0; r < p->n_ranks; r++)
        if (p->ranks[r].host == host)
            sum += term == BUDGET_QUOTA ? p->ranks[r].hidden_quota_ns : p->ranks[r].hidden_queue_ns;
    for (size_t g = 0; g < p->n_groups; g++) {
        const struct replay_group *call = &p->groups[g];
        const struct replay_rank *late = &p->ranks[call->late_rank];
        if (call->held_ns && late->host == host)
            sum += share_of(late, call->late_shares, term) * (double)call->held_ns;
    }
    return sum / 1e9;
}
