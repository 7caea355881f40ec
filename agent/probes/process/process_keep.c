/* SPDX-License-Identifier: MIT */
/*
 * Keeps the stat files of processes open that each sample reads: reading an open file costs a
 * quarter of opening it anew. The descriptor belongs to the process and not to its id: once the
 * process has ended it reads nothing, even if another process has the id. At most a quarter of the
 * agent's files are used for this, and the job comes first.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/probes/process/process_private.h"
#include "common/error.h"

#define KEEP_SHARE 4 /* 1/4 of the agent's descriptors */

void process_keep_open(struct processes *all) {
    struct rlimit files;
    size_t most = getrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_cur / KEEP_SHARE : 0;
    all->keep_most = most < IDMAP_CAPACITY ? most : IDMAP_CAPACITY;
}

void process_keep_drop(struct processes *all, struct process *process) {
    if (!process->is_kept)
        return;
    close(process->stat_fd);
    process->is_kept = false;
    all->n_kept--;
}

static bool is_worth_keeping(const struct processes *all, const struct process *process) {
    size_t most = process->class == PROCESS_MEMBER    ? all->keep_most
                  : process->class == PROCESS_FOREIGN ? all->keep_most / 2
                                                      : 0;
    return process->settled && all->n_kept < most;
}

static int read_kept(int fd, struct process_stat *ret_stat) {
    char text[2048];
    ssize_t n = pread(fd, text, sizeof text, 0);
    if (n < 0)
        return negative_errno();
    return process_parse_stat(text, (size_t)n, ret_stat) ? 0 : -EBADMSG;
}

static int keep(struct processes *all, struct process *process, int32_t pid,
                struct process_stat *ret_stat) {
    char path[32];
    snprintf(path, sizeof path, "%d/stat", pid);
    int fd = openat(all->proc_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return negative_errno();
    int r = read_kept(fd, ret_stat);
    if (r < 0) {
        close(fd);
        return r;
    }
    process->stat_fd = fd;
    process->is_kept = true;
    all->n_kept++;
    return 0;
}

int process_stat_now(struct processes *all, struct process *process, int32_t pid, uint64_t inode,
                     struct process_stat *ret_stat) {
    if (process->is_kept && process->inode == inode && read_kept(process->stat_fd, ret_stat) == 0)
        return 0;
    process_keep_drop(all, process);
    bool same = process->inode == inode && is_worth_keeping(all, process);
    if (same && keep(all, process, pid, ret_stat) == 0)
        return 0;
    return process_read_stat(all->proc_fd, pid, ret_stat);
}
