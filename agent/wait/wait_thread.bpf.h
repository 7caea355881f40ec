/* SPDX-License-Identifier: MIT */
/* A thread of the job: how it becomes one, its clocks, how it ends. */
#ifndef CHOKEPOINT_AGENT_WAIT_THREAD_H
#define CHOKEPOINT_AGENT_WAIT_THREAD_H

#include "agent/wait/wait_class.bpf.h"

/* NULL: not of the job. The one question that every other thread of the host costs. */
static __always_inline struct wait_thread *thread_of(struct task_struct *task) {
    struct slot_of *of = bpf_task_storage_get(&of_task, (void *)task, 0, 0);
    return of ? thread_at(of->slot) : 0;
}

/* The id by which the agent knows a process; 0: it does not see it. */
static __always_inline wait_u32 process_id(struct task_struct *task) {
    struct task_struct *leader = task->group_leader;
    wait_u32 level = config.namespace_level;
    if (!level)
        return leader->tgid;
    struct pid *pid = leader->thread_pid;
    if (!pid || pid->level < level)
        return 0;
    struct upid id = {0};
    const char *at = (const char *)pid + bpf_core_field_offset(struct pid, numbers) +
                     level * bpf_core_type_size(struct upid);
    bpf_probe_read_kernel(&id.nr, sizeof id.nr, at + bpf_core_field_offset(struct upid, nr));
    bpf_probe_read_kernel(&id.ns, sizeof id.ns, at + bpf_core_field_offset(struct upid, ns));
    return BPF_CORE_READ(id.ns, ns.inum) == config.namespace_inode ? id.nr : 0;
}

/* Ends the state a thread is in and begins another; returns how long it was in it. */
static __always_inline wait_u64 move(struct wait_thread *thread, wait_u32 state, wait_u64 now) {
    wait_u32 old = thread->state;
    wait_u64 spent = now - thread->since_ns;
    if (old >= WAIT_STATES)
        return 0;
    if ((__s64)spent < 0)
        spent = 0; /* the clocks of two cores */
    thread->sequence++;
    barrier();
    thread->ns[old] += spent;
    thread->times[old]++;
    thread->since_ns = now;
    thread->state = state;
    barrier();
    thread->sequence++;
    return spent;
}

static __always_inline wait_u32 switches_of(struct task_struct *task) {
    return (wait_u32)(task->nvcsw + task->nivcsw);
}

/* Brings a thread over a pause: one that did not run meanwhile is still in its state, of another
 * only the state it is in now is known. */
static __always_inline void go_on(struct wait_thread *thread, struct task_struct *task,
                                  wait_u32 state, wait_u64 now) {
    struct wait_totals *all = all_totals();
    if (!all || (thread->state >= WAIT_FIRST_BLOCKED && state == thread->state &&
                 thread->switches == switches_of(task)))
        return;
    if (thread->since_ns < all->paused_ns)
        move(thread, WAIT_UNCLOCKED, all->paused_ns);
    thread->state = WAIT_UNCLOCKED;
    thread->pending_ns = 0;
    thread->wait_slot = 0;
    thread->switches = switches_of(task);
    move(thread, state, now);
}

/* A thread that joins. Its first state begins now. */
static __always_inline void adopt(struct task_struct *task, wait_u32 state, wait_u64 now) {
    wait_u32 slot;
    TAKE_SLOT(thread_at, next_thread, WAIT_THREADS, slot);
    struct wait_thread *thread = slot < WAIT_THREADS ? thread_at(slot) : 0;
    if (!thread) {
        count_loss(WAIT_LOST_THREADS);
        return;
    }
    struct slot_of of = {slot};
    __builtin_memset((char *)thread + sizeof thread->slot, 0, sizeof *thread - sizeof thread->slot);
    thread->tgid = process_id(task);
    thread->start_ns = task->group_leader->start_boottime;
    thread->since_ns = now;
    thread->state = state;
    thread->switches = switches_of(task);
    bool kept = bpf_task_storage_get(&of_task, (void *)task, &of, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!kept)
        count_loss(WAIT_LOST_THREADS);
    __sync_lock_test_and_set(&thread->slot, kept ? WAIT_LIVE : WAIT_FREE);
}

/* Whether the current task is the waker, where that is plain: a lock is left by the system call
 * that wakes, a pipe is filled by the one that writes. An interrupt wakes under the name of whoever
 * was there. */
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

static __always_inline void count_wakeup(const struct wait_thread *waiter, wait_u32 state,
                                         wait_u64 ns) {
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    struct call call = call_of(task);
    if (!is_waker(state, call.kind))
        return;
    struct wait_wakeup_key key = {
        .waiter = waiter->tgid, .waker = process_id(task), .state = state};
    struct wait_wakeup *known = bpf_map_lookup_elem(&wakeups, &key), first = {ns, 1};
    if (known) {
        __sync_fetch_and_add(&known->ns, ns);
        __sync_fetch_and_add(&known->times, 1);
    } else if (bpf_map_update_elem(&wakeups, &key, &first, BPF_NOEXIST) < 0) {
        struct wait_totals *all = all_totals();
        count_loss(WAIT_LOST_WAKEUPS);
        if (all)
            __sync_fetch_and_add(&all->lost_wakeup_ns, ns);
    }
}

#endif
