/* SPDX-License-Identifier: MIT */
/*
 * TCP sockets of the job: for how long a reader found nothing, for how long data lay unread, for
 * how long a writer found no room.
 *
 * A thread that is blocked in a receive call waits for that socket. A wait in epoll, poll or select
 * counts for the socket that the thread reads next.
 */
#ifndef CHOKEPOINT_AGENT_WAIT_SOCKET_H
#define CHOKEPOINT_AGENT_WAIT_SOCKET_H

#include "agent/wait/kernel/wait_wakeup.bpf.h"

#define PROTOCOL_TCP 6

static __always_inline bool is_tcp(struct sock *sock) {
    wait_u32 family = sock->__sk_common.skc_family;
    return sock->sk_protocol == PROTOCOL_TCP && (family == FAMILY_IPV4 || family == FAMILY_IPV6);
}

/* NULL: the socket is not of the job, or another one has its slot. */
static __always_inline struct wait_socket *socket_of(struct sock *sock, wait_u32 *ret_slot) {
    struct slot_of *of = bpf_sk_storage_get(&of_socket, (void *)sock, 0, 0);
    struct wait_socket *socket = of ? socket_at(of->slot) : 0;
    if (!socket || socket->address != (wait_u64)sock || socket->slot != WAIT_LIVE)
        return 0;
    *ret_slot = of->slot;
    return socket;
}

static __always_inline void fill_ends(struct wait_socket *socket, struct sock *sock) {
    socket->family = sock->__sk_common.skc_family;
    socket->local_port = sock->__sk_common.skc_num;
    socket->remote_port = bpf_ntohs(sock->__sk_common.skc_dport);
    if (socket->family == FAMILY_IPV4) {
        __be32 local = sock->__sk_common.skc_rcv_saddr, remote = sock->__sk_common.skc_daddr;
        __builtin_memcpy(socket->local, &local, sizeof local);
        __builtin_memcpy(socket->remote, &remote, sizeof remote);
    } else {
        BPF_CORE_READ_INTO(&socket->local, sock, __sk_common.skc_v6_rcv_saddr);
        BPF_CORE_READ_INTO(&socket->remote, sock, __sk_common.skc_v6_daddr);
    }
}

/* Begins a socket that a thread of the job uses for the first time. Runs in that thread's context,
 * where memory can be allocated. */
static __always_inline struct wait_socket *begin_socket(struct sock *sock, wait_u32 tgid,
                                                        wait_u32 *ret_slot) {
    wait_u32 slot;
    TAKE_SLOT(socket_at, next_socket, WAIT_SOCKETS, slot);
    struct wait_socket *socket = slot < WAIT_SOCKETS ? socket_at(slot) : 0;
    if (!socket) {
        count_loss(WAIT_LOST_SOCKETS);
        return 0;
    }
    __builtin_memset((char *)socket + sizeof socket->slot, 0, sizeof *socket - sizeof socket->slot);
    wait_u64 address = (wait_u64)sock;
    struct slot_of *of =
        bpf_sk_storage_get(&of_socket, (void *)sock, 0, BPF_SK_STORAGE_GET_F_CREATE);
    bool kept = of && bpf_map_update_elem(&addresses, &address, &slot, BPF_ANY) == 0;
    if (kept) {
        of->slot = slot;
        socket->tgid = tgid;
        socket->address = address;
        socket->cookie = bpf_get_socket_cookie((void *)sock);
        fill_ends(socket, sock);
    } else {
        count_loss(WAIT_LOST_SOCKETS);
    }
    __sync_lock_test_and_set(&socket->slot, kept ? WAIT_LIVE : WAIT_FREE);
    *ret_slot = slot;
    return kept ? socket : 0;
}

/* Slot + 1 of the socket for which a thread is about to wait, by address; 0: not known yet. */
static __always_inline wait_u32 slot_by_address(const struct wait_thread *thread,
                                                wait_u64 address) {
    wait_u32 slot = thread->last_slot;
    if (thread->last_socket != address) {
        wait_u32 *found = bpf_map_lookup_elem(&addresses, &address);
        slot = found ? *found + 1 : 0;
    }
    struct wait_socket *socket = slot ? socket_at(slot - 1) : 0;
    if (!socket || socket->slot != WAIT_LIVE || socket->address != address)
        return 0;
    struct sock *sock = (struct sock *)address;
    return (wait_u64)BPF_CORE_READ(sock, __sk_common.skc_cookie.counter) == socket->cookie ? slot
                                                                                           : 0;
}

static __always_inline void add_gap(wait_u64 *clock, wait_u64 gap) {
    if (gap)
        __sync_fetch_and_add(clock, gap);
}

/* A gap that continues after a tick is measured from its beginning again. */
static __always_inline void keep_pending_gap(struct wait_process *process, wait_u64 gap) {
    wait_u64 known = process->pending_gap_ns ? process->pending_last_ns : 0;
    if (process->pending_since_ns != process->blocked_since_ns)
        known = 0;
    process->pending_since_ns = process->blocked_since_ns;
    process->pending_last_ns = gap;
    add_gap(&process->pending_gap_ns, gap > known ? gap - known : 0);
}

static __always_inline void keep_pending(struct wait_thread *thread, wait_u64 ns) {
    struct wait_process *process = process_at(thread->process - 1);
    thread->pending_ns += ns;
    thread->last_pending_ns = ns;
    if (process && thread->gap_ns)
        keep_pending_gap(process, thread->gap_ns);
}

static __always_inline wait_u64 take_pending_gap(const struct wait_thread *thread) {
    struct wait_process *process = process_at(thread->process - 1);
    return process ? __sync_lock_test_and_set(&process->pending_gap_ns, 0) : 0;
}

/* The thread polled, and sends now through a socket whose buffer is still full for a good part: it
 * waited for room there. */
static __always_inline void give_to_sender(struct wait_thread *thread, struct sock *sock) {
    wait_u32 slot;
    struct wait_socket *socket = is_tcp(sock) && thread->pending_ns ? socket_of(sock, &slot) : 0;
    if (!socket || (wait_u32)sock->sk_wmem_queued < (wait_u32)sock->sk_sndbuf / 3)
        return;
    add_gap(&socket->send_blocked_ns, thread->pending_ns);
    add_gap(&socket->process_send_blocked_ns, take_pending_gap(thread));
}

/* The wait was for no socket. */
static __always_inline void drop_pending(struct wait_thread *thread) {
    thread->pending_ns = 0;
    take_pending_gap(thread);
}

/* A wait for a socket has ended. */
static __always_inline void give_to_socket(struct wait_thread *thread, wait_u32 state,
                                           wait_u64 ns) {
    struct wait_socket *socket = thread->wait_slot ? socket_at(thread->wait_slot - 1) : 0;
    if (state == WAIT_POLL)
        keep_pending(thread, ns);
    else if (state == WAIT_SOCKET_SEND && socket) {
        __sync_fetch_and_add(&socket->send_blocked_ns, ns);
        add_gap(&socket->process_send_blocked_ns, thread->gap_ns);
    } else if (state == WAIT_SOCKET_RECEIVE && socket) {
        __sync_fetch_and_add(&socket->starved_ns, ns);
        add_gap(&socket->process_starved_ns, thread->gap_ns);
    } else if (state == WAIT_SOCKET_RECEIVE)
        keep_pending(thread, ns);
}

/* The thread reads now: its pending wait, or that of the thread that handed the work over to it,
 * counts for this socket, even if several are ready. A new socket may have come at the end of the
 * wait. */
static __always_inline void give_pending(struct wait_thread *thread, struct wait_socket *socket,
                                         wait_u64 now) {
    wait_u64 gap = take_pending_gap(thread);
    wait_u64 ns = thread->pending_ns > gap ? thread->pending_ns : gap;
    wait_u64 last = thread->last_pending_ns > gap ? thread->last_pending_ns : gap;
    wait_u64 most = socket->read_ns ? now - socket->read_ns : last;
    add_gap(&socket->starved_ns, ns < most ? ns : most);
    add_gap(&socket->process_starved_ns, gap < most ? gap : most);
    thread->pending_ns = 0;
    socket->read_ns = now;
}

#endif
