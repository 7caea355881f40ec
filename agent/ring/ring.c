/* SPDX-License-Identifier: MIT */
#include "agent/ring/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/lineage.h"
#include "agent/ring/ring_block.h"
#include "agent/ring/ring_private.h"
#include "agent/spool/spool.h"
#include "agent/spool/spool_dir.h"
#include "common/error.h"
#include "common/transfer.h"
#include "common/wire.h"

#define BODY_BYTES (2u << 20)
#define SPOOL_SHARE 4 /* of the limit, at most SPOOL_MOST */
#define SPOOL_MOST (16u << 20)

uint64_t ring_spool_bytes(uint64_t limit_bytes) {
    uint64_t bytes = limit_bytes / SPOOL_SHARE;
    return bytes < SPOOL_MOST ? bytes : SPOOL_MOST;
}

void ring_close(struct ring *ring) {
    if (!ring)
        return;
    if (ring->dir_fd >= 0)
        close(ring->dir_fd);
    ring_zip_free(ring->zip);
    buffer_release(&ring->body);
    buffer_release(&ring->blocks);
    buffer_release(&ring->entries);
    free(ring->files);
    free(ring);
}

static int fill(struct ring *ring, const struct ring_config *config, uint64_t stream,
                int64_t now_ns) {
    ring->group_reads = config->group_reads;
    ring->limit_bytes = config->limit_bytes;
    ring->span_ns = config->span_ns;
    ring->next_number = 1;
    ring->files = calloc(RING_FILES_MAX, sizeof *ring->files);
    if (!ring->files)
        return -ENOMEM;
    int r = ring_zip_new(&ring->zip);
    if (r < 0)
        return r;
    ring->dir_fd = spool_dir_open(config->dir, NULL);
    if (ring->dir_fd < 0)
        return ring->dir_fd;
    if (fchmod(ring->dir_fd, config->group_reads ? 0750 : 0700) < 0)
        return negative_errno();
    r = ring_files_list(ring);
    if (r == 0)
        r = ring_adopt(ring, stream);
    if (r == 0)
        ring_files_trim(ring, now_ns);
    return r;
}

int ring_open(const struct ring_config *config, uint64_t stream, int64_t now_ns,
              struct ring **ret_ring) {
    if (config->limit_bytes < RING_LIMIT_MIN || config->span_ns <= 0)
        return -EINVAL;
    struct ring *ring = calloc(1, sizeof *ring);
    if (!ring)
        return -ENOMEM;
    ring->dir_fd = -1;
    int r = fill(ring, config, stream, now_ns);
    if (r < 0)
        ring_close(ring);
    else
        *ret_ring = ring;
    return r;
}

/* ---- lineages of frames that are in no file ---- */

static int put_entries(struct ring *ring, int64_t first_ns, int64_t last_ns) {
    const struct ring_block block = {
        .kind = RING_LINEAGE, .first_ns = first_ns, .last_ns = last_ns};
    if (ring->entries.error)
        return ring->entries.error;
    return ring_block_put(&ring->blocks, block, ring->entries.data, ring->entries.size, ring->zip);
}

int ring_keep_lineage(struct ring *ring, struct lineage *lineage) {
    buffer_reset(&ring->entries);
    buffer_reset(&ring->blocks);
    if (!lineage_take_new(lineage, &ring->entries))
        return 0;
    int r = put_entries(ring, 0, INT64_MAX);
    int fd = openat(ring->dir_fd, RING_TAIL, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                    ring_file_mode(ring));
    if (fd < 0)
        return negative_errno();
    off_t size = lseek(fd, 0, SEEK_END);
    if (r == 0)
        r = transfer_write(fd, ring->blocks.data, ring->blocks.size);
    if (r == 0 && ring->group_reads && fchmod(fd, ring_file_mode(ring)) < 0)
        r = negative_errno();
    if (r < 0 && size >= 0 && ftruncate(fd, size) < 0)
        r = negative_errno();
    close(fd);
    return r;
}

/* ---- files ---- */

int ring_put_frames(struct ring *ring, const void *data, size_t size, int64_t *first_ns,
                    int64_t *last_ns) {
    struct ring_block block = {.kind = RING_FRAMES, .first_ns = INT64_MAX};
    struct wire_reader reader;
    struct wire_record record;
    size_t whole = 0;
    wire_reader_init(&reader, data, size);
    while (wire_next(&reader, &record) == 0) {
        whole = record.offset + record.size;
        if (record.type != WIRE_FRAME)
            continue;
        int64_t wall_ns = record.head.wall_ns;
        block.first_seq = block.first_seq ? block.first_seq : record.head.seq;
        block.last_seq = record.head.seq;
        block.first_ns = wall_ns < block.first_ns ? wall_ns : block.first_ns;
        block.last_ns = wall_ns > block.last_ns ? wall_ns : block.last_ns;
    }
    wire_reader_release(&reader);
    if (!block.last_seq)
        return 0;
    *first_ns = block.first_ns < *first_ns ? block.first_ns : *first_ns;
    *last_ns = block.last_ns > *last_ns ? block.last_ns : *last_ns;
    return ring_block_put(&ring->blocks, block, data, whole, ring->zip);
}

int ring_put_entries_before(struct ring *ring, int64_t first_ns, int64_t last_ns) {
    struct buffer frames = ring->blocks;
    ring->blocks = (struct buffer){0};
    int r = put_entries(ring, first_ns, last_ns);
    buffer_put(&ring->blocks, frames.data, frames.size);
    buffer_release(&frames);
    return r < 0 ? r : ring->blocks.error;
}

int ring_pack(struct ring *ring, struct spool *spool, struct lineage *lineage, int64_t now_ns) {
    struct spool_counts counts;
    struct spool_range range;
    int64_t first_ns = INT64_MAX, last_ns = 0;
    int r = 0;
    spool_counts(spool, &counts);
    uint64_t seq = counts.committed_seq;
    buffer_reset(&ring->blocks);
    while (r == 0 && (r = spool_read(spool, seq, BODY_BYTES, &ring->body, &range)) == 0) {
        r = ring_put_frames(ring, ring->body.data, ring->body.size, &first_ns, &last_ns);
        seq = range.last_seq;
    }
    if (r == SPOOL_EMPTY)
        r = 0;
    if (r == 0 && ring->blocks.size) {
        buffer_reset(&ring->entries);
        lineage_put_round(lineage, &ring->entries);
        r = ring_put_entries_before(ring, first_ns, last_ns);
        if (r == 0)
            r = ring_files_add(ring, last_ns);
    }
    if (r < 0)
        return r;
    spool_ack(spool, seq);
    lineage_next_round(lineage);
    unlinkat(ring->dir_fd, RING_TAIL, 0);
    ring_files_trim(ring, now_ns);
    return 0;
}

void ring_status(const struct ring *ring, struct ring_status *ret_status) {
    *ret_status = (struct ring_status){ring->n, ring->bytes, ring->shed};
}
