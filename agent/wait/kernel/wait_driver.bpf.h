/* SPDX-License-Identifier: MIT */
/*
 * Calls of a GPU's driver that wait for the GPU or copy. The thread has the call's state until it
 * returns: whether a driver polls or sleeps is its choice, and both are waiting. If
 * calls are nested, the outermost one counts.
 *
 * A return may be missed (longjmp, programs that were detached). So the stack tells whether a call
 * is still going on: what is called within it has a lower one.
 */
#ifndef CHOKEPOINT_AGENT_WAIT_DRIVER_H
#define CHOKEPOINT_AGENT_WAIT_DRIVER_H

#include "agent/wait/kernel/wait_thread.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define FOURTH_ARGUMENT(regs) ((regs)->cx)
#define IS_BACK(stack, entered) ((stack) > (entered)) /* the return address has been taken off */
#else
#define FOURTH_ARGUMENT(regs) ((regs)->regs[3])
#define IS_BACK(stack, entered) ((stack) >= (entered))
#endif

/* The state that a call's cookie tells; 0: none. The fourth argument of copies in HIP is the
 * direction (hipMemcpyKind). */
static __always_inline wait_u32 state_of_driver_call(wait_u64 cookie, struct pt_regs *regs) {
    enum { TO_GPU = 1, FROM_GPU = 2 };
    wait_u32 state = (wait_u32)cookie & (WAIT_DRIVER_BY_KIND - 1);
    if (cookie & WAIT_DRIVER_BY_KIND) {
        wait_u32 kind = (wait_u32)FOURTH_ARGUMENT(regs);
        state = kind == TO_GPU ? WAIT_COPY_TO_GPU : kind == FROM_GPU ? WAIT_COPY_FROM_GPU : state;
    }
    return state >= WAIT_FIRST_BLOCKED && state < WAIT_UNCLOCKED ? state : 0;
}

/* While clocks are paused, the thread only notes where it is. */
static __always_inline void change_driver_call(struct wait_thread *thread, struct task_struct *task,
                                               wait_u32 state, wait_u32 events,
                                               struct wait_totals *all) {
    struct wait_pace *pace = own_pace();
    wait_u64 now = bpf_ktime_get_ns();
    if (!all->paused)
        move(thread, task, state, now, all);
    if (!pace)
        return;
    pace->driver_events += events;
    if (!all->paused)
        count_events(pace, events, all, now);
}

static __always_inline void begin_driver_call(struct wait_thread *thread, struct task_struct *task,
                                              wait_u32 state, wait_u32 events, wait_u64 stack,
                                              struct wait_totals *all) {
    if (is_in_driver(thread, all) && stack < thread->driver_stack)
        return;
    thread->driver_stack = stack;
    thread->driver_generation = all->driver_generation;
    thread->driver_state = state;
    thread->acted = 1; /* however short it runs between two calls, it works */
    change_driver_call(thread, task, state, events, all);
}

static __always_inline void end_driver_call(struct wait_thread *thread, struct task_struct *task,
                                            wait_u64 stack, struct wait_totals *all) {
    if (!is_in_driver(thread, all) || !IS_BACK(stack, thread->driver_stack))
        return;
    thread->driver_state = 0;
    change_driver_call(thread, task, WAIT_RUN, 1, all);
}

#endif
