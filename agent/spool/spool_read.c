/* SPDX-License-Identifier: MIT */
/*
 * The reading side. File I/O happens without the lock: the appending thread never waits for the
 * reader's disk. Only the framing of records is checked here; the collector checks the rest. A
 * segment that became unreadable (removed or overwritten) is given up and its frames count as lost:
 * otherwise no push would ever get past it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent/spool/spool_private.h"
#include "common/error.h"

struct frame_span {
    size_t size; /* size of the whole record */
    uint64_t seq;
};

#define FRAME_CUT                                                                                  \
    1 /* the bytes end inside the record; size is its whole size, 0 if not known yet */

static bool read_varint(const uint8_t **p, const uint8_t *end, uint64_t *ret_value) {
    uint64_t value = 0;
    const uint8_t *q = *p;
    for (unsigned shift = 0; q < end && shift < 63; shift += 7) {
        value |= (uint64_t)(*q & 0x7f) << shift;
        if (*q++ < 0x80) {
            *ret_value = value;
            *p = q;
            return true;
        }
    }
    return false;
}

/* 0, FRAME_CUT or -EBADMSG. */
static int frame_span(const uint8_t *data, size_t size, struct frame_span *ret_span) {
    const uint8_t *p = data + 1, *end = data + size;
    uint64_t payload, seq;
    ret_span->size = 0;
    if (size == 0)
        return FRAME_CUT;
    if (*data != WIRE_FRAME && *data != WIRE_PACKED)
        return -EBADMSG;
    if (!read_varint(&p, end, &payload))
        return size > 16 ? -EBADMSG : FRAME_CUT;
    if (payload > WIRE_RECORD_MAX)
        return -EBADMSG;
    ret_span->size = (size_t)(p - data) + (size_t)payload + 4;
    if (ret_span->size > size)
        return FRAME_CUT;
    if (!read_varint(&p, end, &seq))
        return -EBADMSG;
    ret_span->seq = seq;
    return 0;
}

/* Appends [offset, offset + size) of the file to body. -EBADMSG: the file is shorter. */
static int read_piece(int fd, uint64_t offset, size_t size, struct buffer *body) {
    int r = buffer_reserve(body, size);
    if (r < 0)
        return r;
    while (size) {
        ssize_t n = pread(fd, body->data + body->size, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? negative_errno() : -EBADMSG;
        body->size += (size_t)n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

struct reading {
    int fd;
    struct segment segment;
    uint64_t after, offset; /* offset of the next byte to read */
    size_t max_bytes;
};

/* Finds whole frames above `after` in body[start..], moves them to start, and cuts off the rest.
 * Returns the number of consumed bytes of the file; *ret_wanted is the size of the frame that did
 * not fit. */
static int select_frames(const struct reading *reading, struct buffer *body, size_t start,
                         size_t *ret_consumed, size_t *ret_wanted, struct spool_range *range) {
    size_t at = start, from = start;
    struct frame_span span;
    int r;
    while ((r = frame_span(body->data + at, body->size - at, &span)) == 0) {
        at += span.size;
        if (span.seq <= reading->after) {
            from = at;
            continue;
        }
        if (!range->n_frames++)
            range->first_seq = span.seq;
        range->last_seq = span.seq;
    }
    if (r < 0)
        return r;
    *ret_wanted = span.size;
    *ret_consumed = at - start;
    memmove(body->data + start, body->data + from, at - from);
    body->size = start + (at - from);
    return 0;
}

/* Reads window by window until one has a wanted frame. */
static int fill_body(struct reading *reading, struct buffer *body, struct spool_range *range) {
    const struct segment *segment = &reading->segment;
    size_t header = segment->header_size, window = 0, consumed, wanted;
    if (reading->max_bytes > header)
        window = reading->max_bytes - header;
    int r = read_piece(reading->fd, 0, header, body);
    while (r == 0 && !range->n_frames) {
        uint64_t left = segment->size - reading->offset;
        if (left == 0)
            return -EBADMSG; /* its frames are missing */
        r = read_piece(reading->fd, reading->offset, left < window ? (size_t)left : window, body);
        if (r == 0)
            r = select_frames(reading, body, header, &consumed, &wanted, range);
        if (r == 0 && consumed == 0) {
            if (window >= left)
                return -EBADMSG;
            window = wanted > window ? wanted : window + 32;
            body->size = header;
        }
        if (r == 0)
            reading->offset += consumed;
    }
    return r;
}

static bool find_segment(struct spool *spool, uint64_t after, struct segment *ret_segment) {
    bool found = false;
    pthread_mutex_lock(&spool->lock);
    for (size_t i = 0; i < spool->n && !found; i++) {
        found = spool->segments[i].last_seq > after;
        if (found)
            *ret_segment = spool->segments[i];
    }
    pthread_mutex_unlock(&spool->lock);
    return found;
}

/* Gives up a segment, unless the appending thread has dropped it meanwhile. */
static void give_up(struct spool *spool, uint32_t number) {
    pthread_mutex_lock(&spool->lock);
    for (size_t i = 0; i < spool->n; i++)
        if (spool->segments[i].number == number) {
            segment_drop(spool, i);
            break;
        }
    pthread_mutex_unlock(&spool->lock);
}

/* The newest segment's descriptor works while it is appended to, even after its file was
 * removed. */
static bool share_newest(struct spool *spool, struct reading *reading) {
    pthread_mutex_lock(&spool->lock);
    bool is_newest = spool->n && spool->fd >= 0 &&
                     spool->segments[spool->n - 1].number == reading->segment.number;
    reading->fd = is_newest ? fcntl(spool->fd, F_DUPFD_CLOEXEC, 3) : -1;
    pthread_mutex_unlock(&spool->lock);
    if (reading->fd < 0)
        errno = ENOENT;
    return reading->fd >= 0;
}

static int read_segment(struct spool *spool, struct reading *reading, struct buffer *body,
                        struct spool_range *range) {
    char name[SEGMENT_NAME_SIZE];
    const struct segment *segment = &reading->segment;
    const struct spool_cursor *cursor = &spool->cursor;
    segment_name(spool, segment->number, name);
    reading->fd = openat(spool->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (reading->fd < 0 && (errno != ENOENT || !share_newest(spool, reading)))
        return negative_errno();
    bool goes_on = cursor->offset && cursor->number == segment->number &&
                   cursor->after == reading->after && cursor->offset <= segment->size;
    reading->offset = goes_on ? cursor->offset : segment->header_size;
    int r = fill_body(reading, body, range);
    close(reading->fd);
    if (r == 0)
        spool->cursor = (struct spool_cursor){segment->number, range->last_seq, reading->offset};
    return r;
}

int spool_read(struct spool *spool, uint64_t after, size_t max_bytes, struct buffer *body,
               struct spool_range *ret_range) {
    struct reading reading = {.after = after, .max_bytes = max_bytes};
    if (reading.max_bytes > SPOOL_BODY_MAX)
        reading.max_bytes = SPOOL_BODY_MAX;
    while (find_segment(spool, after, &reading.segment)) {
        struct spool_range range = {0};
        buffer_reset(body);
        int r = read_segment(spool, &reading, body, &range);
        if (r == -ENOENT || r == -EBADMSG || r == -ELOOP || r == -ENXIO) {
            give_up(spool, reading.segment.number);
            continue;
        }
        if (r == 0)
            *ret_range = range;
        return r;
    }
    return SPOOL_EMPTY;
}

int spool_header(struct spool *spool, struct buffer *body) {
    buffer_reset(body);
    buffer_put(body, spool->header.data, spool->header.size);
    return body->error;
}
