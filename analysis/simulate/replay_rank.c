/* SPDX-License-Identifier: MIT */
/* Progress of ranks: each runs by itself up to its next event that concerns another rank. */
#include <errno.h>
#include <math.h>

#include "analysis/simulate/replay_run.h"

/* ---- time between calls ---- */

static double share_kept(const struct budget_shares *s, const double *keep) {
    double quota = s->queue_of_off * s->quota_of_queue, queue = s->queue_of_off - quota;
    double idle = fmax(1 - s->queue_of_off - s->steal_of_off - s->disk_of_off - s->memory_of_off -
                           s->helped_of_off - s->stopped_of_off,
                       0);
    return queue * keep[BUDGET_RUN_QUEUE] + quota * keep[BUDGET_QUOTA] +
           s->steal_of_off * keep[BUDGET_STEAL] + s->disk_of_off * keep[BUDGET_DISK] +
           s->memory_of_off * keep[BUDGET_MEMORY] + s->helped_of_off * keep[BUDGET_CPU] +
           s->stopped_of_off * keep[BUDGET_STOPPED] + idle * keep[BUDGET_IDLE];
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

/* ---- operations ---- */

/* Notes that the reference rank has passed its measured time `measured` at `now`. */
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

void replay_finish_op(struct run *run, uint32_t rank, const struct replay_op *op) {
    if (rank == run->reference)
        pass(run, op->end_ns, run->ranks[rank].now);
    run->ranks[rank].at++;
}

/* Whether the rank can go on at once; then its `now` is the end of the wait. */
static bool wait_for(struct run *run, uint32_t rank, const struct replay_op *op) {
    struct rank_state *r = &run->ranks[rank];
    r->resume = r->now + op->ns;
    r->missing = 0;
    for (uint32_t i = 0; i < op->n; i++) {
        uint32_t what = run->p->waits[op->first + i];
        uint32_t id = what & ~(REPLAY_OWN_SEND | REPLAY_OWN_GROUP | REPLAY_ENVELOPE);
        if (what & REPLAY_OWN_GROUP) {
            replay_group_wait(run, id, rank, r->now,
                              replay_group_ns(run, id, op, op->group_ns, rank));
            continue;
        }
        struct message_state *m = &run->messages[id];
        int64_t t = what & REPLAY_OWN_SEND   ? m->left_ns
                    : what & REPLAY_ENVELOPE ? m->envelope_ns
                                             : m->arrived_ns;
        if (t == VALUE_ABSENT) {
            *(what & REPLAY_OWN_SEND   ? &m->sender_waits
              : what & REPLAY_ENVELOPE ? &m->probe_waits
                                       : &m->receiver_waits) = true;
            r->missing++;
        } else if (t > r->resume) {
            r->resume = t;
        }
    }
    if (r->missing)
        return false;
    r->now = replay_goes_on(run, rank);
    return true;
}

/* Time on the CPU within a call that waits for nobody. */
static int64_t spun_ns(const struct replay_op *op) {
    return (int64_t)((double)op->ns * (double)op->spins);
}

/* Does one operation that concerns other ranks. False if the rank has to wait. */
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
            r->now =
                replay_quota_spend(run, rank, op->ns, spun_ns(op)) + replay_op_late_ns(run, rank);
            return true;
        }
        replay_group_wait(run, op->first, rank, r->now,
                          replay_group_ns(run, op->first, op, op->ns, rank));
        if (r->missing)
            return false;
        r->now = replay_goes_on(run, rank);
        return true;
    }
}

/* A stay prolonged by a rank without a core is as long as that rank's absence is now. */
static int64_t fixed_ns(const struct run *run, const struct replay_op *op) {
    return op->held_ns ? op->ns - op->held_ns +
                             replay_late_ns(run, op->held_rank, op->held_shares, op->held_ns)
                       : op->ns;
}

/* In a file call: the wait for a disk, and the rest. */
static int64_t file_ns(const struct run *run, uint32_t rank, const struct replay_op *op) {
    if (!run->change || !run->change->keep)
        return op->ns;
    const double *keep = &run->change->keep[(size_t)run->p->ranks[rank].host * BUDGET_TERMS];
    double disk = (double)op->disk_ns;
    return (int64_t)(((double)op->ns - disk) * keep[BUDGET_FILE] + disk * keep[BUDGET_DISK]);
}

/* When the rank ends an operation that concerns no other rank. */
static int64_t run_by_itself(struct run *run, uint32_t rank, const struct replay_op *op) {
    if (op->kind == REPLAY_FIXED)
        return replay_quota_spend(run, rank, fixed_ns(run, op), spun_ns(op)) +
               replay_op_late_ns(run, rank);
    if (op->kind == REPLAY_FILE)
        return run->ranks[rank].now + file_ns(run, rank, op);
    return replay_quota_spend(run, rank, replay_gap_ns(run->p, run->change, rank, op),
                              replay_gap_cpu_ns(run->p, run->change, rank, op));
}

void replay_step(struct run *run, uint32_t rank, int64_t now) {
    struct rank_state *r = &run->ranks[rank];
    const struct replay_rank *program = &run->p->ranks[rank];
    while (r->at < program->n && !run->error) {
        const struct replay_op *op = &program->ops[r->at];
        if (!time_is_sane(r->now)) {
            run->error = -E2BIG;
            return;
        }
        if (op->kind == REPLAY_GAP || op->kind == REPLAY_FIXED || op->kind == REPLAY_FILE) {
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
        replay_finish_op(run, rank, op);
    }
}
