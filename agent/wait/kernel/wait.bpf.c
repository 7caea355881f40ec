// SPDX-License-Identifier: MIT
/*
 * The programs in the kernel that keep wait clocks, one a tracepoint. Each asks first whether the
 * thread or the socket is of the job, and otherwise returns at once.
 *
 * A program has a license string, since the kernel gives some of its helpers only to code that may
 * be used under the GPL; these sources are MIT.
 */
#include "agent/wait/kernel/wait_driver.bpf.h"
#include "agent/wait/kernel/wait_name.bpf.h"

char program_license[] SEC("license") = "Dual MIT/GPL";

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *from, struct task_struct *to) {
    struct wait_totals *all = unless_paused();
    if (!all)
        return 0;
    struct wait_thread *leaves = from->pid ? thread_of(from) : 0; /* 0: the core was idle */
    struct wait_thread *comes = to->pid ? thread_of(to) : 0;
    wait_u64 now = 0;
    if (leaves && !stays_in_driver(leaves, all)) {
        wait_u64 address = 0;
        now = bpf_ktime_get_ns();
        wait_u32 state = is_in_driver(leaves, all) ? leaves->driver_state
                         : preempt                 ? WAIT_RUNNABLE
                                                   : state_of(from, &address);
        /* set before the thread is seen to be blocked: from then on it may be woken */
        leaves->wait_slot = address ? slot_by_address(leaves, address) : 0;
        leaves->switches = switches_of(from);
        move(leaves, from, state, now, all);
        count_event(all, now);
    }
    if (comes && !stays_in_driver(comes, all))
        move(comes, to, is_in_driver(comes, all) ? comes->driver_state : WAIT_RUN,
             now ? now : bpf_ktime_get_ns(), all);
    return 0;
}

/* For a thread whose state is unknown since a pause. False: it is not asleep. */
static __noinline bool learn_sleeper(struct wait_thread *thread, struct task_struct *task,
                                     wait_u64 now, const struct wait_totals *all) {
    if (task->on_rq)
        return false;
    correct(thread, task, thread->word, state_seen(thread, task, all), now, all);
    return true;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task) {
    struct wait_totals *all = unless_paused();
    struct wait_thread *thread = all ? thread_of(task) : 0;
    if (!thread || is_in_driver(thread, all) ||
        (is_known(thread->word, all) && thread->state < WAIT_FIRST_BLOCKED))
        return 0;
    wait_u64 now = bpf_ktime_get_ns();
    if (!is_known(thread->word, all) && !learn_sleeper(thread, task, now, all))
        return 0;
    wait_u32 state = thread->state;
    note_hand_over(thread, state);
    wait_u64 ns = move(thread, task, WAIT_RUNNABLE, now, all);
    count_event(all, now);
    give_to_socket(thread, state, ns);
    if (state == WAIT_FUTEX || state == WAIT_PIPE || state == WAIT_UNIX || state == WAIT_POLL ||
        state == WAIT_CHILD)
        count_wakeup(thread, state, ns);
    return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child) {
    struct wait_totals *all = all_totals();
    if (all && thread_of(parent))
        adopt(child, word_of_child(all), bpf_ktime_get_ns(), all);
    return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task) {
    struct wait_totals *all = all_totals();
    struct slot_of *of = bpf_task_storage_get(&of_task, (void *)task, 0, 0);
    if (of && all)
        end_thread(of, task, all);
    return 0;
}

/* Whether the agent named the process of a thread that is not in the job yet. */
static __always_inline bool is_to_join(struct task_struct *task) {
    struct slot_of *of = bpf_task_storage_get(&of_task, (void *)task, 0, 0);
    wait_u32 tgid = of && of->slot == SLOT_OVER ? 0 : process_id(task);
    return tgid && bpf_map_lookup_elem(&members, &tgid);
}

/* Runs after the agent found processes of the job: their threads join. Also runs after a pause: it
 * looks at threads that have had no event yet. */
SEC("iter/task")
int adopt_members(struct bpf_iter__task *ctx) {
    struct task_struct *task = ctx->task;
    struct wait_totals *all = unless_paused();
    if (!task || !all || (task->__state & STATE_ENDS) || (task->flags & FLAG_EXITING))
        return 0;
    struct wait_thread *thread = thread_of(task);
    if (!thread && !is_to_join(task))
        return 0;
    if (!thread)
        thread = adopt(task, word_of(unfollowed(state_seen(0, task, all)), all), bpf_ktime_get_ns(),
                       all);
    else if (is_known(thread->word, all))
        return 0;
    if (!thread)
        return 0;
    /* the state may have changed before events could find the thread */
    wait_u64 before = thread->word;
    wait_u32 state = unfollowed(state_seen(thread, task, all));
    correct(thread, task, before, state, bpf_ktime_get_ns(), all);
    return 0;
}

/* A followed call of a GPU's driver begins. Its cookie tells its state. */
SEC("uprobe")
int on_call(struct pt_regs *regs) {
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    struct wait_thread *thread = thread_of(task);
    struct wait_totals *all = thread ? all_totals() : 0;
    if (!all)
        return 0;
    wait_u64 cookie = bpf_get_attach_cookie(regs);
    wait_u32 state = state_of_driver_call(cookie, regs);
    wait_u32 events = cookie & WAIT_DRIVER_STEPPED ? WAIT_STEPPED_EVENTS : 1;
    if (state)
        begin_driver_call(thread, task, state, events, regs->sp, all);
    return 0;
}

SEC("uprobe")
int on_return(struct pt_regs *regs) {
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    struct wait_thread *thread = thread_of(task);
    struct wait_totals *all = thread ? all_totals() : 0;
    if (all)
        end_driver_call(thread, task, regs->sp, all);
    return 0;
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(on_data_ready, struct sock *sock) {
    wait_u32 slot;
    struct wait_totals *all = unless_paused();
    struct wait_socket *socket = all ? socket_of(sock, &slot) : 0;
    if (!socket)
        return 0;
    if (!socket->ready_since_ns)
        socket->ready_since_ns = bpf_ktime_get_ns();
    count_event(all, 0);
    return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive, struct sock *sock, int size) {
    struct wait_totals *all = unless_paused();
    if (!all)
        return 0;
    struct wait_thread *thread = thread_of((struct task_struct *)bpf_get_current_task_btf());
    if (!thread)
        return 0;
    if (size > 0 && is_for_names(sock)) {
        take_answer(thread);
        count_event(all, 0);
    }
    if (!is_tcp(sock))
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
        return 0; /* nothing was there: the thread will poll */
    thread->acted = 1;
    __sync_fetch_and_add(&socket->reads, 1);
    __sync_fetch_and_add(&socket->read_bytes, size);
    wait_u64 now = bpf_ktime_get_ns(), since = socket->ready_since_ns;
    give_pending(thread, socket, now);
    bool more = sock->sk_receive_queue.qlen > 0;
    if (since && now > since && since > all->resumed_ns)
        __sync_fetch_and_add(&socket->unread_ns, now - since);
    socket->ready_since_ns = more ? now : 0;
    count_event(all, 0);
    return 0;
}

/* If a thread sends after a poll without a read, it waited for room, or until a time of its choice,
 * not for data. */
SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send, struct sock *sock, int size) {
    struct wait_totals *all = unless_paused();
    if (size <= 0 || !all)
        return 0;
    struct wait_thread *thread = thread_of((struct task_struct *)bpf_get_current_task_btf());
    if (!thread)
        return 0;
    count_event(all, 0);
    if (is_for_names(sock)) {
        ask_for_name(thread, (wait_u64)sock);
        return 0;
    }
    thread->acted = 1;
    thread->asked = 0;
    give_to_sender(thread, sock);
    drop_pending(thread);
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
    if (before == SYN_SENT && after == 1) { /* its own port and address are known from now on */
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
