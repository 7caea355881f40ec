/* SPDX-License-Identifier: MIT */
/*
 * schedstat of every thread of a rank, at the pace of iterations. Files stay open, since opening
 * them costs more than reading them; threads are listed again only when their number changed.
 *
 * When a thread ends, its time since the last reading is lost: a tenth of a second at most.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/probes/rank.h"
#include "common/text.h"

static struct ranked_thread *find_thread(struct ranks *ranks, int32_t pid, int32_t tid) {
    for (size_t i = 0; i < ranks->n_threads; i++)
        if (ranks->threads[i].pid == pid && ranks->threads[i].tid == tid)
            return &ranks->threads[i];
    return NULL;
}

static bool watch(struct ranks *ranks, int32_t pid, int32_t tid) {
    char path[64];
    struct ranked_thread *known = find_thread(ranks, pid, tid);
    if (known) {
        known->seen = true;
        return true;
    }
    if (ranks->n_threads == RANK_THREADS_MAX)
        return false;
    snprintf(path, sizeof path, "%d/task/%d/schedstat", pid, tid);
    int fd = openat(ranks->proc_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT; /* it has just ended: nothing is missing */
    ranks->threads[ranks->n_threads++] =
        (struct ranked_thread){.pid = pid, .tid = tid, .fd = fd, .seen = true};
    return true;
}

/* Drops the process's threads that are `seen`, `unseen`, or both. */
static void drop(struct ranks *ranks, int32_t pid, bool seen, bool unseen) {
    size_t kept = 0;
    for (size_t i = 0; i < ranks->n_threads; i++) {
        const struct ranked_thread *thread = &ranks->threads[i];
        if (thread->pid == pid && (thread->seen ? seen : unseen))
            close(thread->fd);
        else
            ranks->threads[kept++] = *thread;
    }
    ranks->n_threads = kept;
}

void rank_drop_threads(struct ranks *ranks, int32_t pid) {
    drop(ranks, pid, true, true);
}

void rank_list_threads(struct ranks *ranks, struct ranked *rank, int64_t n_threads) {
    char path[32];
    uint64_t inode;
    int32_t tid;
    snprintf(path, sizeof path, "%d/task", rank->pid);
    int fd = openat(ranks->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    for (size_t i = 0; i < ranks->n_threads; i++)
        ranks->threads[i].seen = false;
    struct dirents tasks = {.fd = fd, .buffer = ranks->listing, .capacity = sizeof ranks->listing};
    rank->complete = true;
    while (dirents_next_id(&tasks, &tid, &inode))
        rank->complete &= watch(ranks, rank->pid, tid);
    close(fd);
    drop(ranks, rank->pid, false, true);
    rank->n_threads = n_threads;
}

static void add_growth(int64_t *sum, uint64_t before, uint64_t now) {
    if (now < before || now > INT64_MAX ||
        __builtin_add_overflow(*sum, (int64_t)(now - before), sum))
        return;
}

/* Returns how long it ran since it was last read. */
static int64_t read_thread(struct ranked *rank, struct ranked_thread *thread) {
    char text[64];
    uint64_t run_ns, wait_ns;
    ssize_t n = pread(thread->fd, text, sizeof text, 0);
    const char *p = text, *end = text + (n > 0 ? n : 0);
    if (!text_u64(&p, end, &run_ns) || !text_u64(&p, end, &wait_ns) || p == end)
        return 0; /* it has ended */
    int64_t before = rank->run_ns;
    add_growth(&rank->run_ns, thread->run_ns, run_ns);
    add_growth(&rank->wait_ns, thread->wait_ns, wait_ns);
    rank->has_times |= run_ns > 0;
    thread->run_ns = run_ns;
    thread->wait_ns = wait_ns;
    return rank->run_ns - before;
}

void rank_read_threads(struct ranks *ranks, struct ranked *rank) {
    int64_t longest = 0;
    for (size_t i = 0; i < ranks->n_threads; i++) {
        int64_t ran =
            ranks->threads[i].pid == rank->pid ? read_thread(rank, &ranks->threads[i]) : 0;
        longest = ran > longest ? ran : longest;
    }
    add_growth(&rank->longest_ns, 0, (uint64_t)longest);
}
