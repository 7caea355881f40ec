/* SPDX-License-Identifier: MIT */
/* A directory of rings: finds the files to read, each once. */
#include "agent/mark/ring_files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

long ring_file_pid(const char *name, const char *suffix) {
    char *end;
    if (!isdigit((unsigned char)*name))
        return -1;
    errno = 0;
    long pid = strtol(name, &end, 10);
    if (*end == '-' && isdigit((unsigned char)end[1]))
        end += 2;
    return errno == 0 && pid > 0 && pid <= INT32_MAX && strcmp(end, suffix) == 0 ? pid : -1;
}

int ring_read(int fd, void *to, size_t n, off_t offset) {
    ssize_t got;
    do
        got = pread(fd, to, n, offset);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : (size_t)got == n ? 0 : -EAGAIN;
}

int ring_read_records(int fd, void *to, size_t n, size_t size, off_t offset) {
    uint64_t sequences[RING_BATCH];
    char *records = to;
    if (n > RING_BATCH)
        return -EINVAL;
    int r = ring_read(fd, records, n * size, offset);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++)
        memcpy(&sequences[i], records + i * size, sizeof *sequences);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    r = ring_read(fd, records, n * size, offset);
    for (size_t i = 0; r == 0 && i < n; i++)
        memcpy(records + i * size, &sequences[i], sizeof *sequences);
    return r;
}

int ring_files_open(struct ring_files *ret_files, const char *dir, const char *suffix, off_t size,
                    size_t limit) {
    struct ring_files files = {.suffix = suffix, .size = size, .size_most = size, .limit = limit};
    struct stat st;
    int r = 0, fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) < 0)
        r = -errno;
    else if ((st.st_mode & 077) || (st.st_uid != geteuid() && geteuid() != 0))
        r = -EPERM;
    else if (!(files.known = calloc(limit, sizeof *files.known)))
        r = -ENOMEM;
    else if (!(files.dir = fdopendir(fd)))
        r = -errno;
    if (r < 0) {
        free(files.known);
        close(fd);
        return r;
    }
    files.owner = st.st_uid;
    *ret_files = files;
    return 0;
}

static bool is_known(const struct ring_files *files, ino_t inode) {
    for (size_t i = 0; i < files->n_known; i++)
        if (files->known[i] == inode)
            return true;
    return false;
}

static int take(const struct ring_files *files, const char *name, long pid, ring_file_fn *fn,
                void *ctx) {
    struct stat st;
    int fd = openat(dirfd(files->dir), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != files->owner ||
                    st.st_size < files->size || st.st_size > files->size_most
                ? -EINVAL
                : fn(ctx, pid, fd);
    if (r < 0)
        close(fd);
    return r;
}

/* Each sample may scan the directory, so files that programs leave there must not make that
 * expensive. */
#define SCAN_MAX 4096
#define SCANS_OF_CHANGE 16 /* times have the resolution of a tick: files may share one */

static bool is_at(const struct ring_files *files, const struct stat *st) {
    return st->st_mtim.tv_sec == files->changed.tv_sec &&
           st->st_mtim.tv_nsec == files->changed.tv_nsec;
}

bool ring_files_changed(const struct ring_files *files) {
    struct stat st;
    return (files->refused && files->scans < SCANS_OF_CHANGE) ||
           (fstat(dirfd(files->dir), &st) == 0 && !is_at(files, &st));
}

static bool may_have_new(struct ring_files *files) {
    struct stat st;
    if (fstat(dirfd(files->dir), &st) < 0)
        return true;
    if (!is_at(files, &st))
        files->scans = 0;
    files->changed = st.st_mtim;
    if (files->scans == SCANS_OF_CHANGE)
        return files->refused;
    files->scans++;
    return true;
}

int ring_files_scan(struct ring_files *files, ring_file_fn *fn, void *ctx) {
    int taken = 0, left = SCAN_MAX;
    if (!may_have_new(files))
        return 0;
    files->refused = 0;
    rewinddir(files->dir);
    errno = 0;
    for (struct dirent *e; left-- > 0 && (e = readdir(files->dir)); errno = 0) {
        long pid = ring_file_pid(e->d_name, files->suffix);
        if (pid < 0 || is_known(files, e->d_ino))
            continue;
        if (files->n_known < files->limit && take(files, e->d_name, pid, fn, ctx) == 0) {
            files->known[files->n_known++] = e->d_ino;
            taken++;
        } else {
            files->refused++;
        }
    }
    return errno ? -errno : taken;
}

int ring_files_listen(const struct ring_files *files) {
    char path[40];
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0)
        return -errno;
    snprintf(path, sizeof path, "/proc/self/fd/%d", dirfd(files->dir));
    if (inotify_add_watch(fd, path, IN_ATTRIB) >= 0)
        return fd;
    int r = -errno;
    close(fd);
    return r;
}

void ring_files_release(struct ring_files *files) {
    if (files->dir)
        closedir(files->dir);
    free(files->known);
    *files = (struct ring_files){0};
}
