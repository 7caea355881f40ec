/* SPDX-License-Identifier: MIT */
/*
 * The appending side and the bookkeeping. A frame goes out in one write, so that a crash leaves
 * whole frames; after a short write the file is cut back. To keep the limit, the oldest segment is
 * dropped before a write, never after.
 */
#include "agent/spool/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/spool/spool_private.h"
#include "common/error.h"
#include "common/limits.h"

#define SEGMENT_LEAST (4u << 10) /* used when files may not be larger */
#define SEGMENT_MIN (64u << 10)
#define SEGMENT_MAX (1u << 20)
#define SPARE_SEGMENTS 64 /* segments that ended early: restarts, lost frames */

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high) {
    return value < low ? low : value > high ? high : value;
}

static int put_header(struct spool *spool, const struct spool_config *config) {
    wire_put_stream(&spool->header, &config->stream);
    for (size_t i = 0; i < config->n_tables; i++)
        wire_put_table(&spool->header, (unsigned)i, config->tables[i]);
    if (config->run && config->run->id[0])
        wire_put_run(&spool->header, config->run);
    return spool->header.error;
}

static int spool_fill(struct spool *spool, const struct spool_config *config) {
    spool->stream_id = config->stream.stream_id;
    spool->mode = config->mode ? config->mode : 0600;
    spool->limit_bytes = config->limit_bytes;
    spool->segment_bytes = config->segment_bytes
                               ? config->segment_bytes
                               : clamp(config->limit_bytes / 64, SEGMENT_MIN, SEGMENT_MAX);
    if (spool->segment_bytes > limits_file_size())
        spool->segment_bytes = clamp(limits_file_size(), SEGMENT_LEAST, SEGMENT_MAX);
    spool->capacity = (size_t)(spool->limit_bytes / spool->segment_bytes) + SPARE_SEGMENTS;
    spool->segments = calloc(spool->capacity, sizeof *spool->segments);
    spool->dir = strdup(config->dir);
    if (!spool->segments || !spool->dir)
        return -ENOMEM;
    int r = put_header(spool, config);
    if (r < 0)
        return r;
    spool->memory = config->memory;
    spool->dir_fd = spool_dir_open(config->dir, NULL);
    if (spool->dir_fd < 0)
        return spool->dir_fd;
    if (faccessat(spool->dir_fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
        return negative_errno();
    return spool_recover(spool);
}

static void spool_release(struct spool *spool) {
    if (spool->fd >= 0)
        close(spool->fd);
    if (spool->dir_fd >= 0)
        close(spool->dir_fd);
    pthread_mutex_destroy(&spool->lock);
    buffer_release(&spool->header);
    free(spool->segments);
    free(spool->dir);
    free(spool);
}

int spool_open(const struct spool_config *config, struct spool **ret_spool) {
    if (config->limit_bytes < SPOOL_LIMIT_MIN || config->segment_bytes > config->limit_bytes / 2)
        return -EINVAL;
    struct spool *spool = calloc(1, sizeof *spool);
    if (!spool)
        return -ENOMEM;
    pthread_mutex_init(&spool->lock, NULL);
    spool->fd = spool->dir_fd = -1;
    int r = spool_fill(spool, config);
    if (r < 0) {
        spool_release(spool);
        return r;
    }
    *ret_spool = spool;
    return 0;
}

void spool_close(struct spool *spool, bool remove) {
    if (!spool)
        return;
    if (remove || spool->committed_seq >= spool->last_seq)
        while (spool->n)
            segment_drop(spool, spool->n - 1);
    spool_release(spool);
}

void spool_leave(struct spool *spool) {
    if (spool)
        spool_release(spool);
}

bool spool_recovered(const struct spool *spool, struct frame_head *ret_last) {
    if (spool->have_recovered)
        *ret_last = spool->recovered;
    return spool->have_recovered;
}

bool spool_is_torn(const struct spool *spool) {
    return spool->memory && atomic_load(&spool->memory->last_seq) > spool->last_seq;
}

uint64_t spool_lost(struct spool *spool) {
    pthread_mutex_lock(&spool->lock);
    uint64_t lost = spool->lost;
    pthread_mutex_unlock(&spool->lock);
    return lost;
}

/* Whether the newest segment can take this frame. */
static bool segment_has_room(const struct spool *spool, size_t size, uint64_t seq) {
    if (spool->fd < 0)
        return false;
    const struct segment *newest = &spool->segments[spool->n - 1];
    return newest->size + size <= spool->segment_bytes && seq == newest->last_seq + 1;
}

static int append_to_new(struct spool *spool, const void *frame, size_t size, uint64_t seq) {
    if (spool->fd >= 0)
        close(spool->fd);
    spool->fd = -1;
    int fd = segment_create(spool);
    if (fd < 0)
        return fd;
    struct iovec pieces[2] = {{spool->header.data, spool->header.size}, {(void *)frame, size}};
    int r = segment_write(fd, 0, pieces, 2);
    if (r < 0) {
        close(fd);
        segment_unlink(spool, spool->next_number);
        return r;
    }
    spool->fd = fd;
    spool->segments[spool->n++] = (struct segment){.number = spool->next_number++,
                                                   .header_size = (uint32_t)spool->header.size,
                                                   .size = spool->header.size + size,
                                                   .first_seq = seq,
                                                   .last_seq = seq};
    spool->bytes += spool->header.size + size;
    return 0;
}

static int append_to_newest(struct spool *spool, const void *frame, size_t size) {
    struct segment *newest = &spool->segments[spool->n - 1];
    struct iovec piece = {(void *)frame, size};
    int r = segment_write(spool->fd, newest->size, &piece, 1);
    if (r == -EIO) { /* its end is unknown: nothing more goes to this file */
        close(spool->fd);
        spool->fd = -1;
    }
    if (r < 0)
        return r;
    newest->size += size;
    newest->last_seq++;
    spool->bytes += size;
    return 0;
}

static int append_locked(struct spool *spool, const void *frame, size_t size, uint64_t seq) {
    size_t alone = spool->header.size + size;
    if (alone > SPOOL_BODY_MAX || alone > spool->limit_bytes)
        return -EMSGSIZE;
    bool joins = segment_has_room(spool, size, seq);
    while (spool->n && spool->bytes + (joins ? size : alone) > spool->limit_bytes) {
        segment_drop(spool, 0);
        joins = joins && spool->n;
    }
    if (!joins && spool->n == spool->capacity)
        segment_drop(spool, 0);
    return joins ? append_to_newest(spool, frame, size) : append_to_new(spool, frame, size, seq);
}

/* The newest segment itself may fill the disk: once all of it is committed it may be freed. */
static bool make_room(struct spool *spool, int error) {
    if ((error != -ENOSPC && error != -EDQUOT && error != -EFBIG) || !spool->n ||
        segment_waiting(spool, &spool->segments[spool->n - 1]))
        return false;
    segment_drop(spool, spool->n - 1);
    return true;
}

int spool_append(struct spool *spool, const void *frame, size_t size, uint64_t seq) {
    pthread_mutex_lock(&spool->lock);
    segment_restore_newest(spool);
    int r = append_locked(spool, frame, size, seq);
    if (make_room(spool, r))
        r = append_locked(spool, frame, size, seq);
    if (r < 0)
        spool->lost++;
    else
        spool->last_seq = seq;
    if (r == 0 && spool->memory) /* no file lacks a frame that was never written */
        atomic_store(&spool->memory->last_seq, seq);
    pthread_mutex_unlock(&spool->lock);
    return r;
}

/* The oldest segment, if nothing in it is needed and it is not the newest. */
static bool take_committed(struct spool *spool, uint32_t *ret_number) {
    pthread_mutex_lock(&spool->lock);
    bool taken = spool->n > 1 && spool->segments[0].last_seq <= spool->committed_seq;
    if (taken)
        *ret_number = segment_take(spool, 0).number;
    pthread_mutex_unlock(&spool->lock);
    return taken;
}

static void settle(struct spool *spool, uint64_t seq, bool lost) {
    pthread_mutex_lock(&spool->lock);
    if (seq > spool->last_seq)
        seq = spool->last_seq;
    uint64_t before = 0, after = 0;
    for (size_t i = 0; i < spool->n; i++)
        before += segment_waiting(spool, &spool->segments[i]);
    if (seq > spool->committed_seq)
        spool->committed_seq = seq;
    for (size_t i = 0; i < spool->n; i++)
        after += segment_waiting(spool, &spool->segments[i]);
    if (lost)
        spool->lost += before - after;
    pthread_mutex_unlock(&spool->lock);
    uint32_t number;
    while (take_committed(spool, &number))
        segment_unlink(spool, number);
}

void spool_ack(struct spool *spool, uint64_t seq) {
    settle(spool, seq, false);
}

void spool_refuse(struct spool *spool, uint64_t seq) {
    settle(spool, seq, true);
}

void spool_counts(struct spool *spool, struct spool_counts *ret_counts) {
    pthread_mutex_lock(&spool->lock);
    uint64_t waiting = 0;
    for (size_t i = 0; i < spool->n; i++)
        waiting += segment_waiting(spool, &spool->segments[i]);
    *ret_counts = (struct spool_counts){.last_seq = spool->last_seq,
                                        .committed_seq = spool->committed_seq,
                                        .waiting = waiting,
                                        .lost = spool->lost,
                                        .bytes = spool->bytes,
                                        .segments = spool->n};
    pthread_mutex_unlock(&spool->lock);
}
