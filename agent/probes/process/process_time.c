/* SPDX-License-Identifier: MIT */
/*
 * The time of a process, more exact than in its stat. stat counts ticks of 10 ms; schedstat
 * counts ns of each living thread. So for processes of the job the growth of every thread is added
 * up, which keeps the time of threads that ended. stat's ticks are a lower bound: they include
 * threads that came and went between two samples. The sum is split into user and system time in
 * stat's proportion; neither part ever steps back.
 *
 * Run-queue delay and context switches exist only by thread: those between a thread's last reading
 * and its end are lost. Nothing is lost where the kernel sends a record of each thread that ends
 * (process_exit.c): the record is its last reading.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/base/counter.h"
#include "agent/probes/process/process_private.h"

#define THREADS_LISTING 4096

static uint64_t growth(uint64_t before, uint64_t now) {
    return now >= before ? now - before : now;
}

static void add_growth(int64_t *sum, uint64_t growth) {
    uint64_t next = (uint64_t)*sum + growth;
    *sum = next > INT64_MAX || next < growth ? INT64_MAX : (int64_t)next;
}

/* The thread's entry. A new entry begins at zero: all the thread's time counts for this process.
 * NULL: no room. */
static struct thread *find_thread(struct processes *all, int32_t pid, int32_t tid) {
    int at = idmap_find(&all->by_tid, tid);
    bool known = at >= 0;
    if (!known)
        at = idmap_add(&all->by_tid, tid);
    if (at < 0)
        return NULL;
    if (!known || all->threads[at].pid != pid)
        all->threads[at] = (struct thread){.pid = pid};
    return &all->threads[at];
}

/* Adds the thread's growth since its last reading. */
static void grow(struct process *process, struct thread *thread, const struct thread_times *now) {
    const struct thread_times *before = &thread->times;
    if (now->has_times) {
        add_growth(&process->totals.run_ns, growth(before->run_ns, now->run_ns));
        if (thread->collects)
            add_growth(&process->totals.collector_ns, growth(before->run_ns, now->run_ns));
        add_growth(&process->totals.wait_ns, growth(before->wait_ns, now->wait_ns));
    }
    if (now->has_switches) {
        add_growth(&process->totals.voluntary, growth(before->voluntary, now->voluntary));
        add_growth(&process->totals.involuntary, growth(before->involuntary, now->involuntary));
    }
    if (now->has_io) {
        add_growth(&process->totals.read_bytes, growth(before->read_bytes, now->read_bytes));
        add_growth(&process->totals.write_bytes, growth(before->write_bytes, now->write_bytes));
    }
    process->totals.has_times |= now->has_times;
    process->totals.has_collector |= thread->collects;
    process->totals.has_switches |= now->has_switches;
    process->totals.has_io |= now->has_io;
    thread->times = *now;
}

static void take_now(void *ctx, const struct exit_record *record) {
    struct processes *all = ctx;
    int at = idmap_find(&all->by_tid, record->tid);
    if (at < 0 || all->threads[at].pid != record->pid)
        return; /* belongs to another process now */
    all->threads[at].now = record->times;
    all->threads[at].asked = all->sample;
}

void process_ask_threads(struct processes *all) {
    thread_ask(&all->ask, all->by_tid.ids, all->by_tid.n, take_now, all);
}

static int read_thread(const struct processes *all, const struct thread *thread, int32_t tid,
                       struct thread_times *ret_now) {
    if (thread->asked != all->sample)
        return process_read_thread(all->proc_fd, thread->pid, tid, all->exits.on, &thread->times,
                                   ret_now);
    *ret_now = thread->now;
    return 0;
}

static bool account_thread(struct processes *all, struct process *process, int32_t pid,
                           int32_t tid) {
    struct thread *thread = find_thread(all, pid, tid);
    struct thread_times now;
    if (!thread)
        return false;
    thread->seen = all->sample;
    process_look_for_collector(all, thread, tid);
    if (read_thread(all, thread, tid, &now) < 0)
        return true; /* it has just ended */
    if (process->rejoined == all->sample)
        thread->times = now;
    grow(process, thread, &now);
    return true;
}

static bool account_threads(struct processes *all, struct process *process, int32_t pid) {
    char path[32];
    _Alignas(struct dirents_entry) char listing[THREADS_LISTING];
    uint64_t inode;
    int32_t tid;
    bool complete = true;
    if (process->stat.threads <= 1)
        return account_thread(all, process, pid, pid);
    snprintf(path, sizeof path, "%d/task", pid);
    int fd = openat(all->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct dirents threads = {.fd = fd, .buffer = listing, .capacity = sizeof listing};
    while (dirents_next_id(&threads, &tid, &inode))
        complete &= account_thread(all, process, pid, tid);
    close(fd);
    return complete;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Splits as the kernel does (cputime_adjust): the split follows the ticks, but neither part steps
 * back. */
static void split(struct process *process, int64_t user_ns, int64_t system_ns) {
    double ticks_ns = (double)user_ns + (double)system_ns;
    double share = ticks_ns > 0 ? (double)user_ns / ticks_ns : 1;
    int64_t user = (int64_t)((double)process->totals.cpu_ns * share);
    int64_t most = process->totals.cpu_ns - process->totals.system_ns;
    user = user < most ? user : most;
    process->totals.user_ns = larger(process->totals.user_ns, user);
    process->totals.system_ns = process->totals.cpu_ns - process->totals.user_ns;
}

void process_account(struct processes *all, struct process *process, int32_t pid,
                     const struct probe_env *env) {
    int64_t user_ns = counter_value(process->stat.user_ticks, tick_ns(env->ticks_per_s));
    int64_t system_ns = counter_value(process->stat.system_ticks, tick_ns(env->ticks_per_s));
    int64_t ticks_ns = counter_add(user_ns, system_ns);
    process->totals.has_cpu = ticks_ns != VALUE_ABSENT && user_ns != VALUE_ABSENT;
    if (!process->totals.has_cpu)
        return;
    int64_t run_before_ns = process->totals.run_ns;
    if (process->class == PROCESS_MEMBER && !account_threads(all, process, pid))
        process->totals.has_times = process->totals.has_switches = false;
    /* A kernel without scheduler statistics shows zeroes: its delays are unknown, not zero. */
    if (process->totals.run_ns == 0 && ticks_ns > 2 * tick_ns(env->ticks_per_s))
        process->totals.has_times = false;
    if (all->exits.on) /* then the sum of threads is complete */
        process->totals.cpu_ns = larger(process->totals.cpu_ns, process->totals.run_ns);
    else
        add_growth(&process->totals.cpu_ns, (uint64_t)(process->totals.run_ns - run_before_ns));
    process->totals.cpu_ns = larger(process->totals.cpu_ns, ticks_ns);
    split(process, user_ns, system_ns);
}

void process_end_add(struct process_end *end, const struct exit_record *record) {
    end->is_whole |= record->is_last;
    end->user_us += record->user_us;
    end->system_us += record->system_us;
    end->minor_faults += record->minor_faults;
    end->major_faults += record->major_faults;
    end->block_io_ns += record->block_io_ns;
    if (record->peak_rss_bytes > end->peak_rss_bytes)
        end->peak_rss_bytes = record->peak_rss_bytes;
}

void process_end_thread(struct processes *all, struct process *process,
                        const struct exit_record *record) {
    struct process_end *end = &process->end;
    struct thread *thread = find_thread(all, record->pid, record->tid);
    if (thread)
        grow(process, thread, &record->times);
    process_end_add(end, record);
    if (!record->is_last)
        return;
    process->totals.has_cpu = true;
    process->totals.cpu_ns = larger(process->totals.cpu_ns, process->totals.run_ns);
    split(process, counter_value(end->user_us, NS_PER_US),
          counter_value(end->system_us, NS_PER_US));
}

void process_forget_threads(struct processes *all) {
    size_t kept = 0;
    uint64_t grace = all->exits.on; /* the record of an ending thread comes with the next sample */
    for (size_t i = 0; i < all->by_tid.n; i++) {
        if (all->threads[i].seen + grace < all->sample)
            continue;
        all->by_tid.ids[kept] = all->by_tid.ids[i];
        all->threads[kept++] = all->threads[i];
    }
    if (kept == all->by_tid.n)
        return;
    all->by_tid.n = kept;
    idmap_rebuild(&all->by_tid);
}
