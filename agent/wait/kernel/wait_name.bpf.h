/* SPDX-License-Identifier: MIT */
/*
 * Look-ups of names: the time that a thread waits between its question to a name server and the
 * answer, over UDP sockets that are connected to port 53, like libc's. A socket lives for one
 * look-up, so it has no row of its own: all such waits of a process are one pair without a waker.
 */
#ifndef CHOKEPOINT_AGENT_WAIT_NAME_H
#define CHOKEPOINT_AGENT_WAIT_NAME_H

#include "agent/wait/kernel/wait_socket.bpf.h"

#define PROTOCOL_UDP 17
#define PORT_OF_NAMES 53

static __always_inline bool is_for_names(struct sock *sock) {
    wait_u32 family = sock->__sk_common.skc_family;
    return sock->sk_protocol == PROTOCOL_UDP && (family == FAMILY_IPV4 || family == FAMILY_IPV6) &&
           sock->__sk_common.skc_dport == bpf_htons(PORT_OF_NAMES);
}

/* The thread's pending waits were for a name. */
static __always_inline void give_to_name(struct wait_thread *thread) {
    struct wait_wakeup_key key = {.waiter = thread->tgid, .state = WAIT_NAME};
    wait_u64 gap = take_pending_gap(thread);
    if (thread->pending_ns)
        add_wakeup(&key, thread->pending_ns, gap);
    thread->pending_ns = 0;
}

static __always_inline void take_answer(struct wait_thread *thread) {
    thread->acted = 1;
    thread->asked = 0;
    give_to_name(thread);
}

/* A repeated question, or the same to another server, means that the time so far was spent waiting
 * for an answer. A first question was preceded by other waits. */
static __always_inline void ask_for_name(struct wait_thread *thread, wait_u64 address) {
    thread->acted = 1;
    if (thread->asked && thread->asked != address)
        give_to_name(thread);
    if (!thread->asked)
        drop_pending(thread);
    thread->asked = address;
}

#endif
