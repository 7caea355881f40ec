/* SPDX-License-Identifier: MIT */
/*
 * Whether a process of the job may use a GPU: whether it has mapped a library through which
 * programs reach one. The GPU itself is not recorded. The CPU time of a process that uses one means
 * less: a thread that waits for a GPU mostly spins.
 *
 * The list of a process's mappings may be long and takes a lock of the process, so it is read
 * seldom: when the process is first reported, and then after pauses that double. The search ends
 * once a library was found.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/probes/process/process_private.h"
#include "common/error.h"

#define LOOKS_MAX 8             /* in a sample */
#define PAUSE_MAX 64            /* samples */
#define BYTES_MAX (1u << 20)    /* of the list, at most */
#define CHUNK ((size_t)4 << 10) /* the kernel's limit for one read */
#define KEPT 32                 /* longer than each name, since the end of a chunk may cut one */

static bool names_gpu(const char *text, size_t size) {
    static const char *const names[] = {
#define DRIVER_LIBRARY(ID, prefix) "/" prefix,
#include "agent/base/driver_calls.def"
    };
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (memmem(text, size, names[i], strlen(names[i])))
            return true;
    return false;
}

static bool fd_names_gpu(int fd) {
    char text[KEPT + CHUNK];
    size_t kept = 0, all = 0;
    ssize_t n;
    while (all < BYTES_MAX && (n = read(fd, text + kept, CHUNK)) > 0) {
        size_t size = kept + (size_t)n;
        if (names_gpu(text, size))
            return true;
        all += (size_t)n;
        kept = size < KEPT ? size : KEPT;
        memmove(text, text + size - kept, kept);
    }
    return false;
}

void process_look_for_gpu(struct processes *all, struct process *process, int32_t pid) {
    char path[32];
    if (process->class != PROCESS_MEMBER || process->gpu.state == GPU_SEEN ||
        all->sample < process->gpu.at || all->n_gpu_looks >= LOOKS_MAX)
        return;
    all->n_gpu_looks++;
    process->gpu.pause = process->gpu.pause ? 2 * process->gpu.pause : 1;
    process->gpu.pause = process->gpu.pause < PAUSE_MAX ? process->gpu.pause : PAUSE_MAX;
    process->gpu.at = all->sample + process->gpu.pause;
    snprintf(path, sizeof path, "%d/maps", pid);
    int fd = openat(all->proc_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    process->gpu.state = fd_names_gpu(fd) ? GPU_SEEN : GPU_NOT_SEEN;
    close(fd);
}
