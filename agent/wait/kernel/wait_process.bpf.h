/* SPDX-License-Identifier: MIT */
/* A process of the job as one: what its threads do together. */
#ifndef CHOKEPOINT_AGENT_WAIT_PROCESS_H
#define CHOKEPOINT_AGENT_WAIT_PROCESS_H

#include "agent/wait/kernel/wait_maps.bpf.h"

static __always_inline bool is_busy(wait_u32 state) {
    return state <= WAIT_RUNNABLE;
}

static __always_inline wait_u64 part_of(wait_u32 state) {
    return (state == WAIT_RUN ? WAIT_ONE_RUNNING : 0) + (is_busy(state) ? WAIT_ONE_BUSY : 0);
}

/* Only the caller learns that the gap is over, so it owns the gap. The gap stays open until the
 * thread that ended it shows whether it ticks. Returns how long all threads were blocked, with the
 * part that the agent has taken. */
static __always_inline wait_u64 end_gap(struct wait_process *process, struct wait_thread *thread,
                                        wait_u32 state, wait_u64 now) {
    wait_u64 since = __sync_lock_test_and_set(&process->gap_since_ns, 0);
    if (!since || state >= WAIT_STATES)
        return 0;
    wait_u64 gap = __sync_lock_test_and_set(&process->carry_ns, 0);
    gap += now > since ? now - since : 0;
    process->open_state = state;
    process->opened_by = (wait_u64)thread;
    process->opened_ns = now;
    process->opener_ran = thread ? thread->ns[WAIT_RUN] : 0;
    __sync_fetch_and_add(&process->open_gap_ns, gap);
    return now > process->blocked_since_ns ? now - process->blocked_since_ns : 0;
}

/* Whether a wait in that state may end at a time of its own choice. */
static __always_inline bool may_tick(wait_u32 state) {
    return state == WAIT_TIMER || state == WAIT_POLL || state == WAIT_FUTEX || state == WAIT_OTHER;
}

static __always_inline bool is_tick(const struct wait_process *process,
                                    const struct wait_thread *thread, wait_u32 to) {
    return thread && may_tick(to) && !thread->acted && process->opened_by == (wait_u64)thread &&
           process->open_state == to && thread->ns[WAIT_RUN] - process->opener_ran < WAIT_TICK_NS;
}

/* When a gap begins, the open gap before it goes to the thread that ended it, or continues in this
 * gap. */
static __always_inline void close_gap(struct wait_process *process, bool tick) {
    wait_u64 gap = __sync_lock_test_and_set(&process->open_gap_ns, 0);
    wait_u32 state = process->open_state;
    if (gap && tick)
        __sync_fetch_and_add(&process->carry_ns, gap);
    else if (gap && state < WAIT_STATES)
        __sync_fetch_and_add(&process->gap_ns[state], gap);
}

/* Called when the worker continues after a thread that may only tick has ended the gap: the gap
 * then belongs to the worker. If another thread of the process woke it, the gap had ended before,
 * and belongs to the thread that ended it. Returns the gap. */
static __always_inline wait_u64 claim_gap(struct wait_process *process,
                                          const struct wait_thread *thread, wait_u32 from) {
    if (!thread || thread->handed || is_busy(from) || process->worker != (wait_u64)thread ||
        process->opened_by == (wait_u64)thread || from >= WAIT_STATES)
        return 0;
    process->open_state = from;
    process->opened_by = (wait_u64)thread;
    process->opener_ran = thread->ns[WAIT_RUN];
    return process->open_gap_ns;
}

/* A thread of the process blocks. */
static __always_inline void note_worker(struct wait_process *process,
                                        const struct wait_thread *thread, wait_u32 to, bool tick) {
    if (!tick && thread && process->opened_by == (wait_u64)thread)
        process->worker = (wait_u64)thread;
    if (thread && process->worker == (wait_u64)thread)
        process->worker_state = to;
}

static __always_inline void move_clock(wait_u64 *clock, bool was, bool is, wait_u64 now) {
    if (was != is)
        __sync_fetch_and_add(clock, is ? -now : now);
}

/* Adds the change of one thread. before: its state until now. ret_gap: the gap that it ended, or
 * 0. */
static __always_inline wait_u64 change_counts(struct wait_process *process,
                                              struct wait_thread *thread, wait_u64 change,
                                              wait_u32 before, bool tick, wait_u64 now,
                                              wait_u64 *ret_gap) {
    wait_u64 old = __sync_fetch_and_add(&process->counts, change), new = old + change;
    bool was_busy = WAIT_COUNT(old, WAIT_ONE_BUSY), busy = WAIT_COUNT(new, WAIT_ONE_BUSY);
    move_clock(&process->run_ns, WAIT_COUNT(old, WAIT_ONE_RUNNING),
               WAIT_COUNT(new, WAIT_ONE_RUNNING), now);
    move_clock(&process->busy_ns, was_busy, busy, now);
    if (!was_busy && busy)
        *ret_gap = end_gap(process, thread, before, now);
    else if (was_busy && busy)
        *ret_gap = claim_gap(process, thread, before);
    else if (was_busy && !busy)
        close_gap(process, tick);
    return new;
}

/* Moves a thread from one state to another. Returns the gap that it ended; 0: none. */
static __always_inline wait_u64 move_process(struct wait_process *process,
                                             struct wait_thread *thread, wait_u32 from, wait_u32 to,
                                             wait_u64 now) {
    bool tick = !is_busy(to) && is_tick(process, thread, to);
    if (!is_busy(to)) { /* a gap may begin: written before any thread can end it */
        process->last_state = to;
        note_worker(process, thread, to, tick);
        if (is_busy(from))
            process->gap_since_ns = now;
        if (is_busy(from) && !tick)
            process->blocked_since_ns = now;
        thread->acted = 0;
    }
    wait_u64 change = part_of(to) - part_of(from), gap = 0;
    if (change)
        change_counts(process, thread, change, from, tick, now, &gap);
    return gap;
}

/* Returns slot + 1 of a process whose first thread joins; 0: no slot is free. */
static __always_inline wait_u32 begin_process(wait_u32 tgid, wait_u64 start_ns, wait_u64 now) {
    wait_u32 slot;
    TAKE_SLOT(process_at, next_process, WAIT_PROCESSES, slot);
    struct wait_process *process = slot < WAIT_PROCESSES ? process_at(slot) : 0;
    if (!process) {
        count_loss(WAIT_LOST_PROCESSES);
        return 0;
    }
    __builtin_memset((char *)process + sizeof process->slot, 0,
                     sizeof *process - sizeof process->slot);
    process->tgid = tgid;
    process->start_ns = start_ns;
    process->joined_ns = now;
    process->blocked_since_ns = process->gap_since_ns = now;
    process->last_state = WAIT_OTHER;
    __sync_lock_test_and_set(&process->slot, WAIT_LIVE);
    return slot + 1;
}

static __always_inline void join_process(struct wait_process *process, wait_u32 state,
                                         wait_u64 now) {
    if (!is_busy(state) && state != WAIT_UNCLOCKED)
        process->last_state = state;
    wait_u64 gap;
    change_counts(process, 0, WAIT_ONE_THREAD + part_of(state), WAIT_OTHER, false, now, &gap);
}

/* A running thread ends. If clocks are paused, the counts do not include it. */
static __always_inline void leave_process(struct wait_process *process, bool paused, wait_u64 now) {
    wait_u64 change = -WAIT_ONE_THREAD - (paused ? 0 : part_of(WAIT_RUN));
    wait_u64 gap;
    if (!paused)
        process->blocked_since_ns = process->gap_since_ns = now;
    if (WAIT_COUNT(change_counts(process, 0, change, WAIT_RUN, false, now, &gap), WAIT_ONE_THREAD))
        return;
    process->ended_ns = now;
    __sync_lock_test_and_set(&process->slot, WAIT_ENDED);
}

#endif
