// SPDX-License-Identifier: MIT
/*
 * The programs in the kernel that keep wait clocks, one a tracepoint. Each asks first whether the
 * thread or the socket is of the job, which for all others is the end of it.
 *
 * A program gets a license string, since the kernel hands out some of its helpers only to code that
 * names the GPL as a choice; these sources are MIT.
 */
#include "agent/wait/wait_socket.bpf.h"

char program_license[] SEC("license") = "Dual MIT/GPL";

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *from, struct task_struct *to) {
    if (is_paused())
        return 0;
    struct wait_thread *leaves = thread_of(from), *comes = thread_of(to);
    wait_u64 now = 0;
    if (leaves) {
        wait_u64 address = 0;
        wait_u32 state = preempt ? WAIT_RUNNABLE : state_of(from, &address);
        now = bpf_ktime_get_ns();
        leaves->wait_slot = address ? slot_by_address(leaves, address) : 0;
        leaves->switches = switches_of(from);
        move(leaves, state, now);
        count_event(now);
    }
    if (comes)
        move(comes, WAIT_RUN, now ? now : bpf_ktime_get_ns());
    return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task) {
    if (is_paused())
        return 0;
    struct wait_thread *thread = thread_of(task);
    wait_u32 state = thread ? thread->state : WAIT_RUN;
    if (!thread || state < WAIT_FIRST_BLOCKED)
        return 0;
    wait_u64 now = bpf_ktime_get_ns(), ns = move(thread, WAIT_RUNNABLE, now);
    count_event(now);
    give_to_socket(thread, state, ns);
    if (state == WAIT_FUTEX || state == WAIT_PIPE || state == WAIT_UNIX || state == WAIT_POLL ||
        state == WAIT_CHILD)
        count_wakeup(thread, state, ns);
    return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child) {
    if (thread_of(parent))
        adopt(child, WAIT_RUNNABLE, bpf_ktime_get_ns());
    return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task) {
    struct wait_thread *thread = thread_of(task);
    if (!thread)
        return 0;
    if (is_paused())
        go_on(thread, task, WAIT_RUN, bpf_ktime_get_ns());
    move(thread, WAIT_RUN, bpf_ktime_get_ns());
    bpf_task_storage_delete(&of_task, (void *)task);
    __sync_lock_test_and_set(&thread->slot, WAIT_ENDED);
    return 0;
}

/* Run when the agent found processes that are of the job: their threads join. And after a pause,
 * before clocks go on. */
SEC("iter/task")
int adopt_members(struct bpf_iter__task *ctx) {
    struct task_struct *task = ctx->task;
    if (!task || (task->__state & STATE_ENDS))
        return 0;
    struct wait_thread *known = thread_of(task);
    wait_u32 tgid = known ? 0 : process_id(task);
    if (known ? !is_paused() : !tgid || !bpf_map_lookup_elem(&members, &tgid))
        return 0;
    wait_u64 address = 0;
    wait_u32 state = task->on_cpu ? WAIT_RUN : state_of(task, &address);
    if (known)
        go_on(known, task, state, bpf_ktime_get_ns());
    else
        adopt(task, state, bpf_ktime_get_ns());
    return 0;
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(on_data_ready, struct sock *sock) {
    wait_u32 slot;
    struct wait_socket *socket = is_paused() ? 0 : socket_of(sock, &slot);
    if (!socket)
        return 0;
    if (!socket->ready_since_ns)
        socket->ready_since_ns = bpf_ktime_get_ns();
    return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive, struct sock *sock, int size) {
    if (is_paused())
        return 0;
    struct wait_thread *thread = thread_of((struct task_struct *)bpf_get_current_task_btf());
    if (!thread || !is_tcp(sock))
        return 0;
    wait_u32 slot = 0;
    struct wait_socket *socket = socket_of(sock, &slot);
    if (!socket)
        socket = begin_socket(sock, thread->tgid, &slot);
    if (!socket)
        return 0;
    socket->tgid = thread->tgid;
    thread->last_socket = (wait_u64)sock;
    thread->last_slot = slot + 1;
    if (size < 0)
        return 0; /* nothing was there: it will poll */
    __sync_fetch_and_add(&socket->reads, 1);
    __sync_fetch_and_add(&socket->read_bytes, size);
    if (thread->pending_ns)
        __sync_fetch_and_add(&socket->starved_ns, thread->pending_ns);
    thread->pending_ns = 0;
    wait_u64 since = socket->ready_since_ns;
    bool more = sock->sk_receive_queue.qlen > 0;
    if (!since && !more)
        return 0;
    wait_u64 now = bpf_ktime_get_ns();
    struct wait_totals *all = all_totals();
    if (since && now > since && all && since > all->resumed_ns)
        __sync_fetch_and_add(&socket->unread_ns, now - since);
    socket->ready_since_ns = more ? now : 0;
    return 0;
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_state, struct sock *sock, int before, int after) {
    enum { SYN_SENT = 2, CLOSE = 7 };
    wait_u32 slot;
    if (after == CLOSE) {
        struct wait_socket *socket = socket_of(sock, &slot);
        if (socket)
            socket->ended = 1;
        return 0;
    }
    if (before == SYN_SENT && after == 1) { /* its own port and address are known now */
        struct wait_socket *socket = socket_of(sock, &slot);
        if (socket)
            fill_ends(socket, sock);
        return 0;
    }
    if (after != SYN_SENT)
        return 0;
    struct wait_thread *thread = thread_of((struct task_struct *)bpf_get_current_task_btf());
    if (thread)
        begin_socket(sock, thread->tgid, &slot);
    return 0;
}
