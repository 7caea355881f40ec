/* SPDX-License-Identifier: MIT */
/*
 * An agent that was killed, or whose host lost its power, leaves segments of its spool and the
 * lineages of its last minute beside the files. Each segment becomes a file, up to its last whole
 * frame. The new agent's own stream is left alone: its spool goes on with it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/ring/ring_block.h"
#include "agent/ring/ring_private.h"
#include "common/error.h"
#include "common/segment_name.h"

#define LEFT_MAX 4096

struct left {
    uint64_t stream;
    uint32_t number;
};

static int compare_left(const void *a, const void *b) {
    const struct left *x = a, *y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int adopt(struct ring *ring, const struct left *left) {
    char name[SEGMENT_NAME_SIZE];
    int64_t first_ns = INT64_MAX, last_ns = 0;
    segment_name_put(name, left->stream, left->number);
    int r = ring_file_read(ring->dir_fd, name, geteuid(), &ring->body);
    if (r < 0)
        return r == -ENOMEM ? r : 0;
    buffer_reset(&ring->blocks);
    r = ring_put_frames(ring, ring->body.data, ring->body.size, &first_ns, &last_ns);
    if (r < 0 && r != -EMSGSIZE)
        return r;
    if (ring->blocks.size) {
        r = ring_put_entries_before(ring, first_ns, last_ns);
        if (r == 0)
            r = ring_files_add(ring, last_ns);
    }
    if (r == 0 || r == -EMSGSIZE)
        unlinkat(ring->dir_fd, name, 0);
    return r == -ENOSPC || r == -EDQUOT || r == -EMSGSIZE ? 0 : r; /* then it is tried next time */
}

/* Reads the whole blocks of the file into ring->entries. */
static void read_tail(struct ring *ring) {
    struct buffer file = {0}, entries = {0};
    struct ring_block block;
    buffer_reset(&ring->entries);
    ring_file_read(ring->dir_fd, RING_TAIL, geteuid(), &file);
    for (size_t at = 0; file.size - at >= RING_BLOCK_HEAD;) {
        const uint8_t *head = file.data + at;
        if (ring_block_read(head, &block) < 0 || block.stored > file.size - at - RING_BLOCK_HEAD)
            break;
        at += RING_BLOCK_HEAD + block.stored;
        if (ring_block_open(head, &block, head + RING_BLOCK_HEAD, ring->zip, &entries) == 0)
            buffer_put(&ring->entries, entries.data, entries.size);
    }
    buffer_release(&entries);
    buffer_release(&file);
    unlinkat(ring->dir_fd, RING_TAIL, 0);
}

int ring_adopt(struct ring *ring, uint64_t stream) {
    struct left *list = calloc(LEFT_MAX, sizeof *list);
    size_t n = 0;
    int fd = list ? openat(ring->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    int r = dir ? 0 : list ? negative_errno() : -ENOMEM;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct left left;
        if (n < LEFT_MAX && segment_name_get(entry->d_name, &left.stream, &left.number) &&
            (left.stream ^ stream) > 1)
            list[n++] = left;
    }
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    if (n) {
        qsort(list, n, sizeof *list, compare_left);
        read_tail(ring);
    }
    for (size_t i = 0; i < n && r == 0; i++)
        r = adopt(ring, &list[i]);
    free(list);
    return r;
}
