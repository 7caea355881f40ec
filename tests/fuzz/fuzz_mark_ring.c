/* SPDX-License-Identifier: MIT */
/*
 * A ring of marks with any content: a valid header, then pieces of offset and 8 bytes that are
 * written over the file, with a drain after each 16. Each mark that is read must keep the promise
 * of ring.h.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/mark/ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(void *ctx, const struct mark_writer *writer,
                  const struct chokepoint_mark_record *r) {
    int64_t end;
    (void)ctx;
    (void)writer;
    if (r->start_ns < 0 || r->duration_ns < 0 || r->bytes < 0 ||
        __builtin_add_overflow(r->start_ns, r->duration_ns, &end) ||
        memchr(r->name, 0, sizeof r->name) == NULL)
        abort();
    for (const char *p = r->name; *p; p++)
        if (*p < ' ' || *p > '~')
            abort();
}

static int make_ring(const char *path) {
    const struct chokepoint_mark_header header = {.magic = CHOKEPOINT_MARK_MAGIC,
                                                  .version = CHOKEPOINT_MARK_VERSION,
                                                  .record_bytes =
                                                      sizeof(struct chokepoint_mark_record),
                                                  .capacity = CHOKEPOINT_MARK_CAPACITY,
                                                  .pid = 7,
                                                  .rank = -1};
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)CHOKEPOINT_MARK_FILE_BYTES) < 0 ||
        pwrite(fd, &header, sizeof header, 0) != sizeof header)
        abort();
    return fd;
}

static void drain(struct mark_reader *reader) {
    if (mark_reader_drain(reader, check, NULL) < 0)
        abort();
}

/* Offsets are of header and first records mostly, so that numbers meet what reads them. */
static void write_pieces(int fd, struct mark_reader *reader, const uint8_t *data, size_t n) {
    for (size_t i = 0; n >= 10; data += 10, n -= 10, i++) {
        off_t at = 8 * (off_t)(data[0] | (data[1] & 1) << 8);
        if (at >= (off_t)sizeof(struct chokepoint_mark_header) && !(data[1] & 2))
            at += CHOKEPOINT_MARK_HEADER;
        if (pwrite(fd, data + 2, 8, at) != 8)
            abort();
        if ((data[1] & 4) && ftruncate(fd, at) < 0)
            abort();
        if (i % 16 == 15)
            drain(reader);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    char dir[] = "/dev/shm/fuzz_mark_XXXXXX", path[64];
    struct mark_reader reader;
    if (!mkdtemp(dir))
        abort();
    snprintf(path, sizeof path, "%s/7.ring", dir);
    int fd = make_ring(path);
    if (mark_reader_open(&reader, dir) < 0)
        abort();
    drain(&reader);
    write_pieces(fd, &reader, data, n);
    drain(&reader);
    mark_reader_release(&reader);
    close(fd);
    mark_directory_remove(dir);
    return 0;
}
