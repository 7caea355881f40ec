/* SPDX-License-Identifier: MIT */
/*
 * Adds operations for the time between calls. Time that the budget counts as waiting by polling
 * (polls that find nothing, and the sleep between them) is no operation: it belongs to the wait of
 * the call that completes the request. Polling that stops early, because the rank had other work,
 * was no wait: that time stays the rank's own.
 */
#include <math.h>

#include "analysis/simulate/replay_build.h"

/* Whether the polls at this time, at event i or before it, are a wait. A rank that goes on although
 * it found nothing had other work, and the request that it completes next was complete before. A
 * rank that sleeps between polls had none: its next poll finds the message.
 */
static bool waits_for(struct rank_builder *rb, size_t i, int64_t begin) {
    const struct call_need *need = polling_for(&rb->polling, i, begin);
    if (need && replay_is_polling(rb) && rb->poll_backed_off)
        return true;
    return need && !replay_had_come(rb, (size_t)(need - rb->needs), begin);
}

void replay_end_polls(struct rank_builder *rb, int64_t t) {
    int64_t from = rb->poll_begin_ns;
    rb->poll_begin_ns = VALUE_ABSENT;
    if (from == VALUE_ABSENT || t <= from)
        return;
    struct replay_away away = replay_away(rb->to, from, t, INFINITY);
    struct replay_op *op = replay_add_op(rb, REPLAY_FIXED, 0, t - from - (int64_t)away.ns, t);
    op->spins = op->ns > 0 ? (float)fmin(rb->poll_cpu_ns / (double)op->ns, 1) : 0;
    op->late_ns = (int64_t)away.ns;
    op->shares = away.shares;
}

/* Whether polling goes on after a pause too long for a back-off: only want of a core, or waking up,
 * made it so long. A rank with other work would use more CPU time.
 */
static bool goes_on_polling(struct rank_builder *rb, size_t i, int64_t begin, int64_t end,
                            double cpu) {
    double all = rb->poll_woke_ns + cpu;
    if (!replay_is_polling(rb) || all > POLL_CPU_MAX * (double)(end - rb->poll_begin_ns))
        return false;
    double own = (double)(end - begin) - replay_pause_late_ns(rb, begin, end, cpu);
    return own <= BACKOFF_LONG_NS && waits_for(rb, i, begin);
}

void replay_put_gap(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    const struct mpi_event *e = &rb->rank->events[i];
    double length = (double)(end - begin), cpu = length;
    if (end <= begin)
        return;
    if (!(e->flags & MPI_FLAG_HAS_GAP_CPU) && length >= MPI_LONG_NS) {
        replay_end_polls(rb, begin);
        replay_add_gap(rb, begin, end, NAN);
        return;
    }
    if (e->flags & MPI_FLAG_HAS_GAP_CPU)
        cpu = fmin((double)e->gap_cpu_ns, length);
    if (polling_backed_off(&rb->polling, i) && waits_for(rb, i, begin)) {
        replay_note_backoff(rb, i, begin, end);
        rb->poll_backed_off = true;
        return;
    }
    if (goes_on_polling(rb, i, begin, end, cpu)) {
        replay_note_pause(rb, begin, end, cpu);
        rb->poll_woke_ns += cpu;
        rb->poll_backed_off |= cpu <= POLL_CPU_MAX * length;
        return;
    }
    replay_end_polls(rb, begin);
    replay_add_gap(rb, begin, end, cpu / length);
}

void replay_put_tests(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    const struct mpi_event *e = &rb->rank->events[i];
    bool folded = e->flags & MPI_FLAG_FOLDED;
    if (!waits_for(rb, i, begin)) {
        replay_end_polls(rb, begin);
        if (folded)
            replay_put_own_polls(rb, i, begin, end);
        else
            replay_add_fixed(rb, end - begin, end, 1);
        return;
    }
    if (!replay_is_polling(rb)) {
        rb->poll_begin_ns = begin;
        rb->poll_cpu_ns = rb->poll_woke_ns = 0;
        rb->poll_backed_off = false;
    }
    replay_note_poll(rb, i, begin, end);
}
