/* SPDX-License-Identifier: MIT */
/* The list of a ring's files. They lie in a directory that is ours alone, and are checked all the
 * same: links and files of others are not ours. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/ring/ring_block.h"
#include "agent/ring/ring_private.h"
#include "common/error.h"
#include "common/transfer.h"

#define SHED_SHARE 16
#define TRIES 4 /* to write a file while the disk is full */

unsigned ring_file_mode(const struct ring *ring) {
    return ring->group_reads ? 0640 : 0600;
}

/* The size and the time of its first block, which has the time of the whole file. */
static int look_at(const struct ring *ring, const char *name, struct ring_file *file) {
    struct stat st;
    struct ring_block block;
    uint8_t head[RING_BLOCK_HEAD];
    int fd = ring_file_open(ring->dir_fd, name, geteuid(), &st);
    if (fd < 0)
        return fd;
    ssize_t n = transfer_read(fd, head, sizeof head);
    close(fd);
    if (n < 0)
        return (int)n;
    if (n < RING_BLOCK_HEAD || ring_block_read(head, &block) < 0 ||
        st.st_size < RING_BLOCK_HEAD + (off_t)block.stored)
        return -EBADMSG;
    file->bytes = (uint64_t)st.st_size;
    file->last_ns = block.last_ns;
    return 0;
}

static int compare_files(const void *a, const void *b) {
    const struct ring_file *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static void take_name(struct ring *ring, const char *name) {
    struct ring_file file;
    if (!ring_name_get(name, &file.number))
        return;
    if (file.number >= ring->next_number)
        ring->next_number = file.number + 1;
    int r = look_at(ring, name, &file);
    if (r == -EBADMSG)
        unlinkat(ring->dir_fd, name, 0);
    if (r < 0 || ring->n == RING_FILES_MAX)
        return;
    ring->files[ring->n++] = file;
    ring->bytes += file.bytes;
}

int ring_files_list(struct ring *ring) {
    int fd = openat(ring->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        int r = negative_errno();
        if (fd >= 0)
            close(fd);
        return r;
    }
    for (struct dirent *entry; (entry = readdir(dir));)
        take_name(ring, entry->d_name);
    closedir(dir);
    qsort(ring->files, ring->n, sizeof *ring->files, compare_files);
    return 0;
}

void ring_files_drop_oldest(struct ring *ring) {
    char name[RING_NAME_SIZE];
    ring_name_put(name, ring->files[0].number);
    unlinkat(ring->dir_fd, name, 0);
    ring->bytes -= ring->files[0].bytes;
    ring->n--;
    memmove(ring->files, ring->files + 1, ring->n * sizeof *ring->files);
}

bool ring_shed(struct ring *ring) {
    uint64_t until = ring->bytes - ring->bytes / SHED_SHARE;
    if (ring->n < 2)
        return false;
    do {
        ring_files_drop_oldest(ring);
        ring->shed++;
    } while (ring->n > 1 && ring->bytes > until);
    return true;
}

/* Whether the oldest file is too old. A clock that was set back has later files with earlier times:
 * a file is as old as the oldest of it and its successors. */
static bool is_too_old(const struct ring *ring, int64_t now_ns) {
    for (size_t i = 0; i < ring->n; i++)
        if (ring->files[i].last_ns < now_ns - ring->span_ns)
            return true;
    return false;
}

void ring_files_trim(struct ring *ring, int64_t now_ns) {
    uint64_t limit = ring->limit_bytes - ring_spool_bytes(ring->limit_bytes);
    while (ring->n && (ring->bytes > limit || is_too_old(ring, now_ns)))
        ring_files_drop_oldest(ring);
}

static int write_next(const struct ring *ring) {
    unlinkat(ring->dir_fd, RING_NEXT, 0);
    int fd = openat(ring->dir_fd, RING_NEXT, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    ring_file_mode(ring));
    if (fd < 0)
        return negative_errno();
    int r = transfer_write(fd, ring->blocks.data, ring->blocks.size);
    if (r == 0 && ring->group_reads && fchmod(fd, ring_file_mode(ring)) < 0)
        r = negative_errno();
    if (close(fd) < 0 && r == 0)
        r = negative_errno();
    if (r < 0)
        unlinkat(ring->dir_fd, RING_NEXT, 0);
    return r;
}

static bool is_full(int error) {
    return error == -ENOSPC || error == -EDQUOT;
}

int ring_files_add(struct ring *ring, int64_t last_ns) {
    char name[RING_NAME_SIZE];
    if (ring->blocks.error)
        return ring->blocks.error;
    if (ring->blocks.size > RING_FILE_MAX || ring->next_number > RING_NUMBER_MAX)
        return -EFBIG;
    int r = write_next(ring);
    for (int i = 1; i < TRIES && is_full(r) && ring_shed(ring); i++)
        r = write_next(ring);
    if (r < 0)
        return r;
    ring_name_put(name, ring->next_number);
    if (renameat(ring->dir_fd, RING_NEXT, ring->dir_fd, name) < 0)
        return negative_errno();
    if (ring->n == RING_FILES_MAX)
        ring_files_drop_oldest(ring);
    ring->files[ring->n++] = (struct ring_file){ring->next_number++, ring->blocks.size, last_ns};
    ring->bytes += ring->blocks.size;
    return 0;
}
