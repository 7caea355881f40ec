/* SPDX-License-Identifier: MIT */
/*
 * Finds owners of sockets in /proc/PID/fd of the job's processes alone: a link "socket:[INODE]"
 * names a socket. If several processes have it (a server that forked), the one with a rank owns it,
 * else the youngest: the process that inherited it works on it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/process_files.h"
#include "agent/probes/connection/connection.h"
#include "common/error.h"
#include "common/text.h"

#define FILES_MAX (OWNER_SLOTS / 2) /* for one scan */

static size_t owner_slot(const struct owners *owners, uint32_t inode) {
    size_t slot = inode % OWNER_SLOTS;
    while (owners->slots[slot].inode && owners->slots[slot].inode != inode)
        slot = (slot + 1) % OWNER_SLOTS;
    return slot;
}

const struct owner *owners_find(const struct owners *owners, uint32_t inode) {
    const struct owner *owner = &owners->slots[owner_slot(owners, inode)];
    return inode && owner->inode ? owner : NULL;
}

static void note_owner(struct owners *owners, uint32_t inode, const struct job_process *process) {
    size_t slot = owner_slot(owners, inode);
    struct owner *owner = &owners->slots[slot];
    if (owner->inode ? owner->rank >= 0 && process->rank < 0 : owners->n == OWNER_SLOTS / 2)
        return;
    if (!owner->inode)
        owners->used[owners->n++] = (uint16_t)slot;
    *owner = (struct owner){inode, process->pid, process->rank};
}

/* Looks at no more than `most` files. Returns how many there were: 0 for a process that has just
 * ended; or -EACCES. */
static int scan_process(struct owners *owners, int proc_fd, const struct job_process *process,
                        int most) {
    char path[32];
    const struct dirents_entry *file;
    int n = 0, denied = 0;
    snprintf(path, sizeof path, "%d/fd", process->pid);
    int fd = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES ? -EACCES : 0;
    struct dirents files = {
        .fd = fd, .buffer = owners->listing, .capacity = sizeof owners->listing};
    for (; n <= most && (file = dirents_next(&files)); n++) {
        uint32_t inode = 0;
        if (*file->name != '.' && process_read_socket(fd, file->name, &inode) == -EACCES)
            denied = -EACCES;
        if (inode)
            note_owner(owners, inode, process);
    }
    close(fd);
    return denied < 0 ? denied : n;
}

/* How many files the process has open; 0: the kernel does not tell, or it has just ended. */
static off_t count_files(int proc_fd, int32_t pid) {
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "%d/fd", pid);
    return fstatat(proc_fd, path, &st, 0) < 0 ? 0 : st.st_size;
}

static bool is_busy(const struct owner_busy *busy, int32_t pid) {
    size_t bit = (size_t)pid % BUSY_PIDS;
    return busy->bits[bit / 64] >> bit % 64 & 1;
}

/* As scan_process; 0 for a process that is left out. The files are counted first, so that one that
 * is opened meanwhile makes the next count differ. */
static int look_at(struct owners *owners, int proc_fd, const struct job_process *process, int most,
                   const struct owner_busy *busy) {
    struct owner_quiet *quiet = &owners->quiet[owners->looked];
    off_t files = count_files(proc_fd, process->pid);
    if (files && quiet->pid == process->pid && quiet->files == files &&
        !is_busy(busy, process->pid))
        return 0;
    int n = scan_process(owners, proc_fd, process, most);
    bool is_whole = n >= 0 && n <= most;
    *quiet = is_whole ? (struct owner_quiet){process->pid, files} : (struct owner_quiet){0};
    return n;
}

void owners_restart(struct owners *owners) {
    owners->looked = 0;
    owners->files = 0;
}

void owners_forget(struct owners *owners) {
    while (owners->n)
        owners->slots[owners->used[--owners->n]] = (struct owner){0};
    memset(owners->quiet, 0, sizeof owners->quiet);
    owners_restart(owners);
}

int owners_look(struct owners *owners, int proc_fd, const struct job *job, size_t most,
                const struct owner_busy *busy) {
    int r = 0;
    for (; most-- > 0 && owners->looked < job->n; owners->looked++) {
        int left = FILES_MAX - owners->files;
        int n = look_at(owners, proc_fd, &job->processes[owners->looked], left, busy);
        if (n > left) {
            owners->looked = job->n;
            return -EMFILE;
        }
        owners->files += n > 0 ? n : 0;
        r = n < 0 ? n : r;
    }
    return r;
}
