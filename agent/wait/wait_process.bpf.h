/* SPDX-License-Identifier: MIT */
/* A process of the job: what its threads do, as one. */
#ifndef CHOKEPOINT_AGENT_WAIT_PROCESS_H
#define CHOKEPOINT_AGENT_WAIT_PROCESS_H

#include "agent/wait/wait_maps.bpf.h"

static __always_inline bool is_busy(wait_u32 state) {
    return state <= WAIT_RUNNABLE;
}

static __always_inline wait_u64 part_of(wait_u32 state) {
    return (state == WAIT_RUN ? WAIT_ONE_RUNNING : 0) + (is_busy(state) ? WAIT_ONE_BUSY : 0);
}

/* The caller alone is told that the gap is over, so it owns it. */
static __always_inline void end_gap(struct wait_process *process, wait_u32 state, wait_u64 now) {
    wait_u64 since = __sync_lock_test_and_set(&process->gap_since_ns, 0);
    if (since && now > since && state < WAIT_STATES)
        __sync_fetch_and_add(&process->gap_ns[state], now - since);
}

static __always_inline void move_clock(wait_u64 *clock, bool was, bool is, wait_u64 now) {
    if (was != is)
        __sync_fetch_and_add(clock, is ? -now : now);
}

/* Adds what a thread changes. before: its state till now. */
static __always_inline wait_u64 change_counts(struct wait_process *process, wait_u64 change,
                                              wait_u32 before, wait_u64 now) {
    wait_u64 old = __sync_fetch_and_add(&process->counts, change), new = old + change;
    bool was_busy = WAIT_COUNT(old, WAIT_ONE_BUSY), busy = WAIT_COUNT(new, WAIT_ONE_BUSY);
    move_clock(&process->run_ns, WAIT_COUNT(old, WAIT_ONE_RUNNING),
               WAIT_COUNT(new, WAIT_ONE_RUNNING), now);
    move_clock(&process->busy_ns, was_busy, busy, now);
    if (!was_busy && busy)
        end_gap(process, before, now);
    return new;
}

/* A thread of it goes from one state to another. */
static __always_inline void move_process(struct wait_process *process, wait_u32 from, wait_u32 to,
                                         wait_u64 now) {
    if (!is_busy(to)) { /* a gap may begin: its beginning stands there before anybody can end it */
        process->last_state = to;
        if (is_busy(from))
            process->gap_since_ns = now;
    }
    wait_u64 change = part_of(to) - part_of(from);
    if (change)
        change_counts(process, change, from, now);
}

/* Slot + 1 of a process whose first thread joins; 0: none is free. */
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
    process->gap_since_ns = now;
    process->last_state = WAIT_OTHER;
    __sync_lock_test_and_set(&process->slot, WAIT_LIVE);
    return slot + 1;
}

static __always_inline void join_process(struct wait_process *process, wait_u32 state,
                                         wait_u64 now) {
    if (!is_busy(state) && state != WAIT_UNCLOCKED)
        process->last_state = state;
    change_counts(process, WAIT_ONE_THREAD + part_of(state), WAIT_OTHER, now);
}

/* A thread that ran ends. Where clocks are paused, it is not in the counts. */
static __always_inline void leave_process(struct wait_process *process, bool paused, wait_u64 now) {
    wait_u64 change = -WAIT_ONE_THREAD - (paused ? 0 : part_of(WAIT_RUN));
    if (!paused)
        process->gap_since_ns = now;
    if (WAIT_COUNT(change_counts(process, change, WAIT_RUN, now), WAIT_ONE_THREAD))
        return;
    process->ended_ns = now;
    __sync_lock_test_and_set(&process->slot, WAIT_ENDED);
}

#endif
