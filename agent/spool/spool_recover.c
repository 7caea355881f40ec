/* SPDX-License-Identifier: MIT */
/*
 * After a crash: the decoder reads every segment of this stream, and each is cut off where it is
 * invalid. Recovered segments are never appended to, because the restarted agent's tables may
 * differ from a segment's.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/spool/spool_private.h"
#include "common/error.h"
#include "common/transfer.h"

static int compare_numbers(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The numbers of this stream's segments in order. The caller frees *ret_numbers. */
static int list_segments(const struct spool *spool, uint32_t **ret_numbers, size_t *ret_n) {
    int fd = openat(spool->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        int r = negative_errno();
        if (fd >= 0)
            close(fd);
        return r;
    }
    struct buffer numbers = {0};
    for (struct dirent *entry; (entry = readdir(dir));) {
        uint64_t stream;
        uint32_t number;
        if (segment_name_get(entry->d_name, &stream, &number) && stream == spool->stream_id)
            buffer_put(&numbers, &number, sizeof number);
    }
    closedir(dir);
    if (numbers.error) {
        buffer_release(&numbers);
        return -ENOMEM;
    }
    *ret_n = numbers.size / sizeof(uint32_t);
    *ret_numbers = (uint32_t *)(void *)numbers.data;
    if (*ret_n)
        qsort(*ret_numbers, *ret_n, sizeof(uint32_t), compare_numbers);
    return 0;
}

/* Reads the whole file into `content`; no own file is larger than a body. */
static int read_file(int fd, struct buffer *content) {
    struct stat st;
    if (fstat(fd, &st) < 0)
        return negative_errno();
    if (!S_ISREG(st.st_mode) || st.st_size > (off_t)SPOOL_BODY_MAX)
        return -EBADMSG;
    buffer_reset(content);
    if (buffer_reserve(content, (size_t)st.st_size + 1) < 0)
        return -ENOMEM;
    if (lseek(fd, 0, SEEK_SET) < 0)
        return negative_errno();
    ssize_t n = transfer_read(fd, content->data, (size_t)st.st_size);
    content->size = n < 0 ? 0 : (size_t)n;
    return n < 0 ? (int)n : 0;
}

/* Whether a frame continues the earlier ones: its number is higher, and has no gap within a
 * segment. */
static bool frame_follows(const struct spool *spool, const struct segment *segment, uint64_t seq) {
    return segment->last_seq ? seq == segment->last_seq + 1 : seq > spool->last_seq;
}

/* Reads a segment up to its end or its first invalid record: fills *ret_segment (last_seq 0: no
 * frames) and the head of the last frame. */
static int walk(const struct spool *spool, const struct buffer *content,
                struct segment *ret_segment, struct frame_head *ret_head) {
    struct wire_reader reader;
    struct wire_record record;
    int r;
    wire_reader_init(&reader, content->data, content->size);
    while ((r = wire_next(&reader, &record)) == 0) {
        if (record.type == WIRE_STREAM && reader.stream.stream_id != spool->stream_id)
            break;
        if (record.type != WIRE_FRAME && ret_segment->last_seq)
            break;
        if (record.type != WIRE_FRAME)
            continue;
        if (!frame_follows(spool, ret_segment, record.head.seq))
            break;
        if (!ret_segment->last_seq) {
            ret_segment->first_seq = record.head.seq;
            ret_segment->header_size = (uint32_t)record.offset;
        }
        ret_segment->last_seq = record.head.seq;
        ret_segment->size = record.offset + record.size;
        *ret_head = record.head;
    }
    wire_reader_release(&reader);
    return r == -ENOMEM ? r : 0;
}

static int recover_segment(struct spool *spool, uint32_t number, struct buffer *content) {
    char name[SEGMENT_NAME_SIZE];
    struct segment segment = {.number = number};
    segment_name(spool, number, name);
    int fd = openat(spool->dir_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return negative_errno();
    int r = read_file(fd, content);
    if (r == 0)
        r = walk(spool, content, &segment, &spool->recovered);
    if (r == 0 && segment.last_seq && segment.size < content->size &&
        ftruncate(fd, (off_t)segment.size) < 0)
        r = negative_errno();
    close(fd);
    if (r == -EBADMSG || (r == 0 && !segment.last_seq))
        return unlinkat(spool->dir_fd, name, 0) < 0 ? negative_errno() : 0;
    if (r < 0)
        return r;
    if (spool->n == spool->capacity)
        segment_drop(spool, 0);
    spool->segments[spool->n++] = segment;
    spool->bytes += segment.size;
    spool->last_seq = segment.last_seq;
    spool->have_recovered = true;
    return 0;
}

int spool_recover(struct spool *spool) {
    uint32_t *numbers = NULL;
    size_t n = 0;
    struct buffer content = {0};
    int r = list_segments(spool, &numbers, &n);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = recover_segment(spool, numbers[i], &content);
    if (r == 0 && n)
        spool->next_number = numbers[n - 1] + 1;
    if (spool->have_recovered && spool->lost < spool->recovered.lost)
        spool->lost = spool->recovered.lost;
    buffer_release(&content);
    free(numbers);
    return r;
}

static int last_of_segment(struct spool *spool, uint32_t number, struct buffer *content) {
    char name[SEGMENT_NAME_SIZE];
    struct segment segment = {.number = number};
    struct frame_head head;
    segment_name(spool, number, name);
    int fd = openat(spool->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return negative_errno();
    int r = read_file(fd, content);
    close(fd);
    if (r == 0)
        r = walk(spool, content, &segment, &head);
    if (segment.last_seq > spool->last_seq)
        spool->last_seq = segment.last_seq;
    return r;
}

int spool_last_kept(const char *dir, uint64_t stream, uint64_t *ret_seq) {
    struct spool spool = {.stream_id = stream, .dir_fd = spool_dir_open(dir, NULL)};
    struct buffer content = {0};
    uint32_t *numbers = NULL;
    size_t n = 0;
    if (spool.dir_fd < 0)
        return spool.dir_fd;
    int r = list_segments(&spool, &numbers, &n);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = last_of_segment(&spool, numbers[i], &content);
    if (r == 0 && n == 0)
        r = -ENOENT;
    if (r == 0)
        *ret_seq = spool.last_seq;
    buffer_release(&content);
    free(numbers);
    close(spool.dir_fd);
    return r;
}
