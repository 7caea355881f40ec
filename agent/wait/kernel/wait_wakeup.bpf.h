/* SPDX-License-Identifier: MIT */
/* The process that ended a wait. */
#ifndef CHOKEPOINT_AGENT_WAIT_WAKEUP_H
#define CHOKEPOINT_AGENT_WAIT_WAKEUP_H

#include "agent/wait/kernel/wait_thread.bpf.h"

/* Whether the current task certainly is the waker: a system call that wakes releases the lock, a
 * writer fills the pipe. An interrupt runs in the name of any task. */
static __always_inline bool is_waker(wait_u32 state, wait_u32 call) {
    switch (state) {
    case WAIT_FUTEX:
        return call == WAIT_CALL_FUTEX || call == WAIT_CALL_EXIT;
    case WAIT_PIPE:
    case WAIT_UNIX:
        return call == WAIT_CALL_WRITE || call == WAIT_CALL_READ || call == WAIT_CALL_CLOSE ||
               call == WAIT_CALL_EXIT;
    case WAIT_POLL:
        return call == WAIT_CALL_WRITE;
    case WAIT_CHILD:
        return call == WAIT_CALL_EXIT;
    default:
        return false;
    }
}

static __always_inline void add_wakeup(const struct wait_wakeup_key *key, wait_u64 ns,
                                       wait_u64 process_ns) {
    struct wait_wakeup *known = bpf_map_lookup_elem(&wakeups, key), first = {ns, 1, process_ns};
    if (known) {
        __sync_fetch_and_add(&known->ns, ns);
        __sync_fetch_and_add(&known->times, 1);
        if (process_ns)
            __sync_fetch_and_add(&known->process_ns, process_ns);
    } else if (bpf_map_update_elem(&wakeups, key, &first, BPF_NOEXIST) < 0) {
        struct wait_totals *all = all_totals();
        count_loss(WAIT_LOST_WAKEUPS);
        if (all)
            __sync_fetch_and_add(&all->lost_wakeup_ns, ns);
    }
}

/* Notes a hand-over: the current task, a thread of the same process, ends the wait by a system
 * call. It acted, so it did not only tick. */
static __always_inline void note_hand_over(struct wait_thread *waiter, wait_u32 state) {
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    struct wait_thread *waker = thread_of(task);
    waiter->handed = 0;
    if (!waker || !waker->process || waker->process != waiter->process ||
        !is_waker(state, call_of(task).kind))
        return;
    waker->acted = 1;
    waiter->handed = 1;
}

static __always_inline void count_wakeup(const struct wait_thread *waiter, wait_u32 state,
                                         wait_u64 ns) {
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    struct call call = call_of(task);
    if (!is_waker(state, call.kind))
        return;
    wait_u64 address = 0;
    if (state == WAIT_POLL && state_of_file(task, call.first, true, &address) == WAIT_SOCKET_SEND)
        return; /* through a connection, whose reader has the wait */
    struct wait_wakeup_key key = {
        .waiter = waiter->tgid, .waker = process_id(task), .state = state};
    add_wakeup(&key, ns, waiter->gap_ns);
}

#endif
