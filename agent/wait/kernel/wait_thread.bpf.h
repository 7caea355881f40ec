/* SPDX-License-Identifier: MIT */
/* A thread of the job: how it joins, its clocks, how it ends. */
#ifndef CHOKEPOINT_AGENT_WAIT_THREAD_H
#define CHOKEPOINT_AGENT_WAIT_THREAD_H

#include "agent/wait/kernel/wait_class.bpf.h"
#include "agent/wait/kernel/wait_process.bpf.h"

/* NULL: not of the job. This check is the only cost for other threads of the host. */
static __always_inline struct wait_thread *thread_of(struct task_struct *task) {
    struct slot_of *of = bpf_task_storage_get(&of_task, (void *)task, 0, 0);
    return of ? thread_at(of->slot) : 0; /* NULL at SLOT_NONE and SLOT_OVER */
}

/* The id by which the agent knows a process; 0: the agent cannot see it. */
static __always_inline wait_u32 process_id(struct task_struct *task) {
    struct task_struct *leader = task->group_leader;
    struct pid *pid = leader->thread_pid;
    if (!config.namespace_inode)
        return leader->tgid;
    const char *at = (const char *)pid + bpf_core_field_offset(struct pid, numbers);
    for (wait_u32 level = 1; pid && level <= WAIT_NAMESPACES && level <= pid->level; level++) {
        struct upid id = {0};
        at += bpf_core_type_size(struct upid);
        bpf_probe_read_kernel(&id.nr, sizeof id.nr, at + bpf_core_field_offset(struct upid, nr));
        bpf_probe_read_kernel(&id.ns, sizeof id.ns, at + bpf_core_field_offset(struct upid, ns));
        if (BPF_CORE_READ(id.ns, ns.inum) == config.namespace_inode)
            return id.nr;
    }
    return 0;
}

static __always_inline wait_u32 switches_of(struct task_struct *task) {
    return (wait_u32)(task->nvcsw + task->nivcsw);
}

static __always_inline wait_u64 word_of(wait_u32 state, const struct wait_totals *all) {
    return state | (wait_u64)all->generation << 32;
}

/* A thread begins ready to run. The state of one that joins in a pause is unknown after it. Without
 * a branch, since the verifier would follow both ways through all that comes later. */
static __always_inline wait_u64 word_of_child(const struct wait_totals *all) {
    wait_u32 paused = all->paused & 1;
    wait_u32 state = WAIT_RUNNABLE + paused * (WAIT_UNCLOCKED - WAIT_RUNNABLE);
    return state | (wait_u64)(all->generation - paused) << 32;
}

static __always_inline wait_u32 state_in(wait_u64 word) {
    return (wait_u32)word;
}

static __always_inline bool is_known(wait_u64 word, const struct wait_totals *all) {
    return word >> 32 == all->generation;
}

/* The agent reads a thread again while its number is odd. An event on another core may write at the
 * same time: so the lowest bit is set, not added, and is cleared when the event ends. */
static __always_inline void begin_change(struct wait_thread *thread) {
    thread->sequence |= 1;
    barrier();
}

static __always_inline void end_change(struct wait_thread *thread) {
    barrier();
    thread->sequence = (thread->sequence | 1) + 1;
}

static __always_inline wait_u64 spend(struct wait_thread *thread, wait_u32 state, wait_u64 until) {
    wait_u64 spent = until - thread->since_ns;
    if (state >= WAIT_STATES)
        return 0;
    thread->times[state]++;
    if ((__s64)spent <
        0) /* the clocks of two cores differ, or a later event interrupted this one */
        return 0;
    thread->ns[state] += spent;
    thread->since_ns = until;
    return spent;
}

/* The time of a thread up to a pause, after which its state is unknown: it counts in no state. */
static __always_inline void spend_pause(struct wait_thread *thread, struct task_struct *task,
                                        wait_u32 state, const struct wait_totals *all) {
    if (thread->since_ns < all->paused_ns)
        spend(thread, state, all->paused_ns);
    thread->pending_ns = 0;
    thread->switches = switches_of(task);
}

/* Gives a state to a thread whose word has just been changed. Returns how long it was in the state
 * before. */
static __always_inline wait_u64 settle(struct wait_thread *thread, struct task_struct *task,
                                       wait_u64 before, wait_u32 to, wait_u64 now,
                                       const struct wait_totals *all) {
    wait_u32 from = state_in(before);
    if (!is_known(before, all)) {
        spend_pause(thread, task, from, all);
        from = WAIT_UNCLOCKED;
    }
    wait_u64 spent = spend(thread, from, now);
    struct wait_process *process = process_at(thread->process - 1);
    thread->gap_ns = process ? move_process(process, thread, from, to, now) : 0;
    return spent;
}

/* Ends the state of a thread and begins another. Returns how long the ended state lasted. */
static __always_inline wait_u64 move(struct wait_thread *thread, struct task_struct *task,
                                     wait_u32 state, wait_u64 now, const struct wait_totals *all) {
    begin_change(thread);
    wait_u64 before = __sync_lock_test_and_set(&thread->word, word_of(state, all));
    wait_u64 spent = settle(thread, task, before, state, now, all);
    end_change(thread);
    return spent;
}

/* Whether the thread is in a followed call of a GPU's driver, whose state it then has, whatever it
 * does there. */
static __always_inline bool is_in_driver(const struct wait_thread *thread,
                                         const struct wait_totals *all) {
    return thread->driver_state && thread->driver_generation == all->driver_generation;
}

/* A switch changes nothing: the state is set already. */
static __always_inline bool stays_in_driver(const struct wait_thread *thread,
                                            const struct wait_totals *all) {
    return is_in_driver(thread, all) && thread->word == word_of(thread->driver_state, all);
}

/* The state of a thread that is looked at from outside and may change meanwhile. A thread that is
 * about to leave its core counts as blocked: its switch will say the same. thread: NULL: it
 * joins. */
static __always_inline wait_u32 state_seen(const struct wait_thread *thread,
                                           struct task_struct *task,
                                           const struct wait_totals *all) {
    wait_u64 address = 0;
    if (thread && is_in_driver(thread, all))
        return thread->driver_state;
    if (task->__state == 0)
        return task->on_cpu ? WAIT_RUN : WAIT_RUNNABLE;
    return state_of(task, &address);
}

/* Sets the observed state, unless an event has set a state meanwhile: events are more exact.
 * before: the word of the thread before the look. A thread that did not run in a pause is still in
 * its state; one in a driver may have run. */
static __always_inline void correct(struct wait_thread *thread, struct task_struct *task,
                                    wait_u64 before, wait_u32 state, wait_u64 now,
                                    const struct wait_totals *all) {
    bool stayed = state == state_in(before) &&
                  (is_known(before, all) || (state >= WAIT_FIRST_BLOCKED && !thread->driver_state &&
                                             thread->switches == switches_of(task)));
    wait_u64 word = word_of(state, all);
    if (stayed) {
        __sync_val_compare_and_swap(&thread->word, before, word);
        return;
    }
    begin_change(thread);
    if (__sync_val_compare_and_swap(&thread->word, before, word) == before) {
        thread->wait_slot = 0;
        settle(thread, task, before, state, now, all);
    }
    end_change(thread);
}

/* A task carries at most one. If another core makes it at the same time, that one is used. */
static __always_inline struct slot_of *carried_by(struct task_struct *task) {
    struct slot_of none = {SLOT_NONE, 0};
    struct slot_of *of =
        bpf_task_storage_get(&of_task, (void *)task, &none, BPF_LOCAL_STORAGE_GET_F_CREATE);
    return of ? of : bpf_task_storage_get(&of_task, (void *)task, 0, 0);
}

/* Slot + 1 of a thread's process, which is new if this is its first thread. The process's leader
 * carries it, even after it has ended. */
static __always_inline wait_u32 process_of(struct task_struct *task, wait_u32 tgid, wait_u64 now) {
    struct task_struct *leader = task->group_leader;
    struct slot_of *of = carried_by(leader);
    if (!of)
        return 0;
    struct wait_process *known = process_at(of->process - 1);
    if (!known || known->slot != WAIT_LIVE || known->start_ns != leader->start_boottime)
        of->process = begin_process(tgid, leader->start_boottime, now);
    return of->process;
}

/* Ends a thread: when its task exits, or when it joined during its exit. The first of the two finds
 * the slot. */
static __always_inline void end_thread(struct slot_of *of, struct task_struct *task,
                                       const struct wait_totals *all) {
    struct wait_thread *thread = thread_at(__sync_lock_test_and_set(&of->slot, SLOT_OVER));
    if (!thread)
        return;
    wait_u64 now = bpf_ktime_get_ns();
    bool paused = all->paused;
    if (paused) {
        spend_pause(thread, task, thread->state, all);
        spend(thread, WAIT_UNCLOCKED, now);
    } else {
        move(thread, task, WAIT_RUN, now, all);
    }
    struct wait_process *process = process_at(thread->process - 1);
    if (process) /* process before thread: the agent reads threads first */
        leave_process(process, paused, now);
    __sync_lock_test_and_set(&thread->slot, WAIT_ENDED);
}

/* Takes a slot for a thread and fills it, except for the process. */
static __always_inline struct wait_thread *begin_thread(struct task_struct *task, wait_u64 word,
                                                        wait_u64 now, wait_u32 *ret_slot) {
    TAKE_SLOT(thread_at, next_thread, WAIT_THREADS, *ret_slot);
    struct wait_thread *thread = *ret_slot < WAIT_THREADS ? thread_at(*ret_slot) : 0;
    if (!thread)
        return 0;
    __builtin_memset((char *)thread + sizeof thread->slot, 0, sizeof *thread - sizeof thread->slot);
    thread->tgid = process_id(task);
    thread->start_ns = task->group_leader->start_boottime;
    thread->since_ns = now;
    thread->word = word;
    thread->switches = switches_of(task);
    return thread;
}

/* Lets a thread join once, even if both its fork and the look at all threads find it. Its first
 * state begins now; events find it once all else is set. NULL: it has joined already, or ends. */
static __always_inline struct wait_thread *adopt(struct task_struct *task, wait_u64 word,
                                                 wait_u64 now, const struct wait_totals *all) {
    struct slot_of *of = carried_by(task);
    if (!of) {
        count_loss(WAIT_LOST_THREADS);
        return 0;
    }
    if (__sync_val_compare_and_swap(&of->slot, SLOT_NONE, SLOT_TAKEN) != SLOT_NONE)
        return 0;
    wait_u32 slot;
    struct wait_thread *thread = begin_thread(task, word, now, &slot);
    if (!thread) {
        count_loss(WAIT_LOST_THREADS);
        __sync_val_compare_and_swap(&of->slot, SLOT_TAKEN, SLOT_NONE);
        return 0;
    }
    thread->process = process_of(task, thread->tgid, now);
    of->process = thread->process; /* for the case that it becomes its process's leader (exec) */
    struct wait_process *process = process_at(thread->process - 1);
    if (process)
        join_process(process, state_in(word), now);
    __sync_lock_test_and_set(&thread->slot, WAIT_LIVE);
    __sync_lock_test_and_set(&of->slot, slot);
    if (!(task->flags & FLAG_EXITING))
        return thread;
    end_thread(of, task, all); /* the exit may have come before the thread had a slot */
    return 0;
}

#endif
