/* SPDX-License-Identifier: MIT */
/*
 * The reason why a thread leaves its core. It is found at the switch: the saved registers of the
 * task still have the number and the arguments of its system call. A tracepoint of system calls
 * would cost every call of every process of the host.
 */
#ifndef CHOKEPOINT_AGENT_WAIT_CLASS_H
#define CHOKEPOINT_AGENT_WAIT_CLASS_H

#include "agent/wait/kernel/wait_maps.bpf.h"

#define STATE_INTERRUPTIBLE 0x1
#define STATE_UNINTERRUPTIBLE 0x2
#define STATE_STOPPED (0x4 | 0x8 | 0x8000) /* by a signal, by a debugger, frozen */
#define STATE_ENDS (0x10 | 0x20 | 0x80)
#define FLAG_EXITING 0x4 /* PF_EXITING: set before the exit event */

#define MODE_KIND 0170000
#define MODE_FIFO 0010000
#define MODE_SOCKET 0140000
#define MODE_FILE 0100000
#define MODE_BLOCK 0060000

#define FAMILY_UNIX 1
#define FAMILY_IPV4 2
#define FAMILY_IPV6 10

struct call {
    wait_u32 kind; /* enum wait_call */
    bool inside;   /* in a system call, not in a page fault or interrupt */
    wait_u64 first, second;
};

#if defined(__TARGET_ARCH_x86)
#define STATUS_32_BITS 0x2 /* TS_COMPAT: has other numbers and registers */
static __always_inline wait_u64 call_number(struct task_struct *task, struct pt_regs *regs,
                                            struct call *call) {
    call->first = regs->di;
    call->second = regs->si;
    return task->thread_info.status & STATUS_32_BITS ? WAIT_CALLS : regs->orig_ax;
}
#elif defined(__TARGET_ARCH_arm64)
static __always_inline wait_u64 call_number(struct task_struct *task, struct pt_regs *regs,
                                            struct call *call) {
    call->first = regs->orig_x0;
    call->second = regs->regs[1];
    return (wait_u64)(__s64)regs->syscallno;
}
#else
#error "the registers of this processor are not known"
#endif

static __always_inline struct call call_of(struct task_struct *task) {
    struct call call = {0};
    struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs((void *)task);
    if (!regs)
        return call;
    wait_u64 number = call_number(task, regs, &call);
    call.inside = (__s64)number >= 0;
    if (number < WAIT_CALLS)
        call.kind = config.calls[number];
    return call;
}

/* The state of a thread that reads or writes a file; for a socket, its address, too. */
static __always_inline wait_u32 state_of_file(struct task_struct *task, wait_u64 number,
                                              bool writes, wait_u64 *ret_address) {
    struct fdtable *table = task->files ? task->files->fdt : 0;
    struct file *file = 0;
    if (!table || number >= table->max_fds)
        return WAIT_OTHER;
    bpf_probe_read_kernel(&file, sizeof file, table->fd + number);
    struct inode *inode = BPF_CORE_READ(file, f_inode);
    wait_u32 mode = inode ? BPF_CORE_READ(inode, i_mode) & MODE_KIND : 0;
    if (mode == MODE_FIFO)
        return WAIT_PIPE;
    if (mode == MODE_FILE || mode == MODE_BLOCK)
        return WAIT_DISK;
    if (mode != MODE_SOCKET)
        return WAIT_OTHER;
    struct socket *socket = BPF_CORE_READ(file, private_data);
    struct sock *sock = BPF_CORE_READ(socket, sk);
    wait_u32 family = BPF_CORE_READ(sock, __sk_common.skc_family);
    if (family == FAMILY_UNIX)
        return WAIT_UNIX;
    if (family != FAMILY_IPV4 && family != FAMILY_IPV6)
        return WAIT_OTHER;
    *ret_address = (wait_u64)sock;
    return writes ? WAIT_SOCKET_SEND : WAIT_SOCKET_RECEIVE;
}

static __always_inline wait_u32 state_of_call(struct task_struct *task, const struct call *call,
                                              wait_u64 *ret_address) {
    switch (call->kind) {
    case WAIT_CALL_READ:
        return state_of_file(task, call->first, false, ret_address);
    case WAIT_CALL_WRITE:
        return state_of_file(task, call->first, true, ret_address);
    case WAIT_CALL_CONNECT:
        return WAIT_CONNECT;
    case WAIT_CALL_ACCEPT:
        return WAIT_ACCEPT;
    case WAIT_CALL_POLL:
        return WAIT_POLL;
    case WAIT_CALL_POLL_FILES:
        return (wait_u32)call->second ? WAIT_POLL : WAIT_TIMER;
    case WAIT_CALL_SELECT:
        return (wait_u32)call->first ? WAIT_POLL : WAIT_TIMER;
    case WAIT_CALL_FUTEX:
        return WAIT_FUTEX;
    case WAIT_CALL_TIMER:
    case WAIT_CALL_RESTART:
        return WAIT_TIMER;
    case WAIT_CALL_CHILD:
        return WAIT_CHILD;
    case WAIT_CALL_SYNC:
        return WAIT_DISK;
    default:
        return WAIT_OTHER;
    }
}

/* The state of a task that is off its core, or about to leave it. */
static __always_inline wait_u32 state_of(struct task_struct *task, wait_u64 *ret_address) {
    wait_u32 state = task->__state;
    if (state == 0)
        return WAIT_RUNNABLE;
    if (state & STATE_STOPPED)
        return WAIT_STOPPED;
    struct call call = call_of(task);
    bool io = BPF_CORE_READ_BITFIELD(task, in_iowait);
    if (io)
        return call.inside ? WAIT_DISK : WAIT_FAULT;
    if (!call.inside)
        return state & STATE_UNINTERRUPTIBLE ? WAIT_FAULT : WAIT_OTHER;
    if (state & STATE_UNINTERRUPTIBLE)
        return call.kind == WAIT_CALL_SYNC ? WAIT_DISK : WAIT_KERNEL;
    return state_of_call(task, &call, ret_address);
}

#endif
