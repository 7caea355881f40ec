/* SPDX-License-Identifier: MIT */
/* The list of segments and their files, also when somebody removes these. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/spool/spool_private.h"
#include "common/error.h"

#define NAMES_TRIED 64

void segment_name(const struct spool *spool, uint32_t number, char ret_name[SEGMENT_NAME_SIZE]) {
    segment_name_put(ret_name, spool->stream_id, number);
}

void segment_unlink(const struct spool *spool, uint32_t number) {
    char name[SEGMENT_NAME_SIZE];
    segment_name(spool, number, name);
    unlinkat(spool->dir_fd, name, 0);
}

uint64_t segment_waiting(const struct spool *spool, const struct segment *segment) {
    uint64_t committed = spool->committed_seq;
    if (committed < segment->first_seq)
        return segment->last_seq - segment->first_seq + 1;
    return committed < segment->last_seq ? segment->last_seq - committed : 0;
}

struct segment segment_take(struct spool *spool, size_t i) {
    struct segment segment = spool->segments[i];
    if (i + 1 == spool->n && spool->fd >= 0) {
        close(spool->fd);
        spool->fd = -1;
    }
    spool->bytes -= segment.size;
    spool->n--;
    memmove(spool->segments + i, spool->segments + i + 1, (spool->n - i) * sizeof *spool->segments);
    return segment;
}

void segment_drop(struct spool *spool, size_t i) {
    spool->lost += segment_waiting(spool, &spool->segments[i]);
    segment_unlink(spool, segment_take(spool, i).number);
}

static int create(const struct spool *spool, uint32_t number) {
    char name[SEGMENT_NAME_SIZE];
    segment_name(spool, number, name);
    int fd = openat(spool->dir_fd, name,
                    O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, spool->mode);
    return fd < 0 ? negative_errno() : fd;
}

static bool is_removed(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_nlink == 0;
}

/* The descriptor keeps its number: the reading thread uses it without the lock. */
static int make_directory(struct spool *spool) {
    int fd = spool_dir_open(spool->dir, NULL);
    if (fd < 0)
        return fd;
    int r = dup3(fd, spool->dir_fd, O_CLOEXEC) < 0 ? negative_errno() : 0;
    close(fd);
    return r;
}

/* If the next name is taken (by an own file that could not be removed, or by another user's), that
 * file stays, and the next name is tried. */
static int create_next(struct spool *spool) {
    int fd = create(spool, spool->next_number);
    for (int i = 0; i < NAMES_TRIED && fd == -EEXIST; i++)
        fd = create(spool, ++spool->next_number);
    return fd;
}

int segment_create(struct spool *spool) {
    int fd = create_next(spool);
    if (fd != -ENOENT)
        return fd;
    int r = make_directory(spool);
    return r < 0 ? r : create_next(spool);
}

int segment_write(int fd, uint64_t offset, const struct iovec *pieces, int n) {
    size_t size = 0;
    for (int i = 0; i < n; i++)
        size += pieces[i].iov_len;
    ssize_t written = writev(fd, pieces, n);
    if (written == (ssize_t)size)
        return 0;
    int r = written < 0 ? negative_errno() : -ENOSPC;
    if (written > 0 && ftruncate(fd, (off_t)offset) < 0)
        return -EIO;
    return r;
}

static int copy(int from, int to, uint64_t size) {
    char piece[16384];
    int r = 0;
    for (uint64_t at = 0; at < size && r == 0;) {
        uint64_t left = size - at;
        ssize_t n =
            pread(from, piece, left < sizeof piece ? (size_t)left : sizeof piece, (off_t)at);
        if (n <= 0)
            return n < 0 ? negative_errno() : -EBADMSG;
        struct iovec all = {piece, (size_t)n};
        r = segment_write(to, at, &all, 1);
        at += (uint64_t)n;
    }
    return r;
}

void segment_restore_newest(struct spool *spool) {
    if (spool->fd < 0 || !is_removed(spool->fd))
        return;
    struct segment *newest = &spool->segments[spool->n - 1];
    int fd = segment_create(spool);
    if (fd < 0)
        return;
    if (copy(spool->fd, fd, newest->size) < 0) {
        segment_unlink(spool, spool->next_number);
        close(fd);
        return;
    }
    close(spool->fd);
    spool->fd = fd;
    newest->number = spool->next_number++;
}
