/* SPDX-License-Identifier: MIT */
/*
 * Ranks without a core inside a group call: others wait for their part of it, which no counter of
 * theirs tells.
 */
#include <math.h>

#include "analysis/replay_build.h"

/* While it had no core, others may have waited for what it was to do. */
void replay_note_late(struct rank_builder *rb, uint32_t number, const struct replay_op *op) {
    struct replay_group *g = &rb->b->replay->groups[number];
    if (op->late_ns <= g->late_ns)
        return;
    g->late_rank = (uint32_t)rb->index;
    g->late_shares = op->shares;
    g->late_end_ns = op->end_ns;
    g->late_ns = op->late_ns;
}

/* Who waits for what the late member was to do: of a call with a root, the root, or all others for
 * it. */
static bool needs_late(const struct replay_group *g, size_t rank) {
    if (g->late_rank == rank)
        return false;
    return g->need == MPI_NEED_ROOT       ? g->late_rank == g->root
           : g->need == MPI_NEED_GATHERED ? rank == g->root
                                          : g->need != MPI_NEED_NOBODY;
}

/* Who went on long before the late member was held up by nothing of it, and who went on long after
 * it by something else. */
int64_t replay_held_up_ns(const struct replay_group *g, const struct replay_op *op, int64_t ns,
                          size_t rank) {
    int64_t end = op->end_ns - op->late_ns, begin = end - ns;
    int64_t late_begin = g->late_end_ns - g->late_ns;
    int64_t slack_ns = g->late_ns / 10;
    if (!g->late_ns || !needs_late(g, rank) || end < g->late_end_ns - slack_ns ||
        end > g->late_end_ns + slack_ns)
        return 0;
    begin = begin > late_begin ? begin : late_begin;
    end = end < g->late_end_ns ? end : g->late_end_ns;
    return end > begin ? end - begin : 0;
}

static void note_held_up(struct replay *p, uint32_t number, const struct replay_op *op, int64_t ns,
                         size_t rank) {
    struct replay_group *g = &p->groups[number];
    int64_t held = replay_held_up_ns(g, op, ns, rank);
    g->held_ns = held > g->held_ns ? held : g->held_ns;
}

void replay_find_held_up(struct replay *p) {
    for (size_t r = 0; r < p->n_ranks; r++)
        for (size_t i = 0; i < p->ranks[r].n; i++) {
            const struct replay_op *op = &p->ranks[r].ops[i];
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
