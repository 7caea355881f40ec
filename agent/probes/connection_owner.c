/* SPDX-License-Identifier: MIT */
/*
 * /proc/PID/fd of the job's processes, and of nobody else's: a link "socket:[INODE]" says whose a
 * socket is. One that several processes have (a server that forked) is that of the one with a
 * rank, else of the youngest: who inherited it works on it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/probes/connection.h"
#include "common/text.h"

#define FILES_MAX (OWNER_SLOTS / 2) /* looked at in one scan */

static size_t slot_of(const struct owners *owners, uint32_t inode) {
    size_t slot = inode % OWNER_SLOTS;
    while (owners->slots[slot].inode && owners->slots[slot].inode != inode)
        slot = (slot + 1) % OWNER_SLOTS;
    return slot;
}

const struct owner *owners_find(const struct owners *owners, uint32_t inode) {
    const struct owner *owner = &owners->slots[slot_of(owners, inode)];
    return inode && owner->inode ? owner : NULL;
}

/* 0: the file is no socket. */
static uint32_t read_inode(int fd_directory, const char *name) {
    char link[64];
    uint64_t inode;
    ssize_t n = readlinkat(fd_directory, name, link, sizeof link);
    struct span span = {link, n > 0 ? (size_t)n : 0};
    const char *p = link + strlen("socket:[");
    if (!span_starts(span, "socket:[") || !text_u64(&p, link + n, &inode) || inode > UINT32_MAX)
        return 0;
    return (uint32_t)inode;
}

static void note_owner(struct owners *owners, uint32_t inode, const struct job_process *process) {
    size_t slot = slot_of(owners, inode);
    struct owner *owner = &owners->slots[slot];
    if (owner->inode ? owner->rank >= 0 && process->rank < 0 : owners->n == OWNER_SLOTS / 2)
        return;
    if (!owner->inode)
        owners->used[owners->n++] = (uint16_t)slot;
    *owner = (struct owner){inode, process->pid, process->rank};
}

/* At most `most` files; returns how many there were. */
static size_t scan_process(struct owners *owners, int proc_fd, const struct job_process *process,
                           size_t most) {
    char path[32];
    const struct dirents_entry *file;
    size_t n = 0;
    snprintf(path, sizeof path, "%d/fd", process->pid);
    int fd = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0; /* it has just ended, or is not ours to look into */
    struct dirents files = {
        .fd = fd, .buffer = owners->listing, .capacity = sizeof owners->listing};
    for (; n <= most && (file = dirents_next(&files)); n++) {
        uint32_t inode = *file->name == '.' ? 0 : read_inode(fd, file->name);
        if (inode)
            note_owner(owners, inode, process);
    }
    close(fd);
    return n;
}

bool owners_scan(struct owners *owners, int proc_fd, const struct job *job) {
    size_t left = FILES_MAX;
    while (owners->n)
        owners->slots[owners->used[--owners->n]] = (struct owner){0};
    for (size_t i = 0; i < job->n; i++) {
        size_t n = scan_process(owners, proc_fd, &job->processes[i], left);
        if (n > left)
            return false;
        left -= n;
    }
    return true;
}
