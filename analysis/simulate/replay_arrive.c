/* SPDX-License-Identifier: MIT */
/* Ends of waits: what a rank waited for has come, left or arrived. */
#include "analysis/simulate/replay_run.h"

int64_t replay_late_ns(const struct run *run, uint32_t rank, uint32_t shares, int64_t late_ns) {
    const struct replay_rank *r = &run->p->ranks[rank];
    if (late_ns == 0 || !run->change || !run->change->keep || shares == REPLAY_NONE)
        return late_ns;
    const double *keep = &run->change->keep[(size_t)r->host * BUDGET_TERMS];
    double quota = r->shares[shares].quota_of_queue;
    return (int64_t)((double)late_ns *
                     (quota * keep[BUDGET_QUOTA] + (1 - quota) * keep[BUDGET_RUN_QUEUE]));
}

int64_t replay_op_late_ns(const struct run *run, uint32_t rank) {
    const struct replay_op *op = &run->p->ranks[rank].ops[run->ranks[rank].at];
    return replay_late_ns(run, rank, op->shares, op->late_ns);
}

int64_t replay_goes_on(struct run *run, uint32_t rank) {
    const struct rank_state *r = &run->ranks[rank];
    const struct replay_op *op = &run->p->ranks[rank].ops[r->at];
    return replay_quota_wait(run, rank, r->resume + replay_op_late_ns(run, rank),
                             (double)op->spins);
}

void replay_come(struct run *run, uint32_t rank, int64_t t) {
    struct rank_state *r = &run->ranks[rank];
    r->resume = t > r->resume ? t : r->resume;
    if (--r->missing == 0)
        replay_push(run, replay_goes_on(run, rank), EVENT_RANK, rank);
}

void replay_leave(struct run *run, uint32_t id, int64_t left) {
    struct message_state *m = &run->messages[id];
    if (m->left_ns == VALUE_ABSENT)
        m->left_ns = left;
    if (m->sender_waits)
        replay_come(run, run->p->messages[id].from, left);
    m->sender_waits = false;
}

void replay_envelope(struct run *run, uint32_t id, int64_t t) {
    struct message_state *m = &run->messages[id];
    if (m->envelope_ns == VALUE_ABSENT)
        m->envelope_ns = t;
    if (m->probe_waits)
        replay_come(run, run->p->messages[id].to, t);
    m->probe_waits = false;
}

void replay_arrive(struct run *run, uint32_t id, int64_t t, int64_t left) {
    struct message_state *m = &run->messages[id];
    const struct replay_message *as = &run->p->messages[id];
    m->arrived_ns = t;
    replay_envelope(run, id, t);
    if (m->receiver_waits)
        replay_come(run, as->to, t);
    m->receiver_waits = false;
    replay_leave(run, id, left);
    replay_go_behind(run, id, left);
}
