/* SPDX-License-Identifier: MIT */
/*
 * A ring of marks with any content: a valid header, then pieces of an offset and 8 bytes that
 * overwrite the file, with a drain after each 16. Each mark that is read must keep the promise of
 * ring.h.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/mark/ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define WORDS 512 /* of 8 bytes, which a piece may address from either start */
#define REACH (CHOKEPOINT_MARK_HEADER + 8 * WORDS)

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

/* The directory and the file are kept for all inputs. */
static char dir[] = "/dev/shm/fuzz_mark_XXXXXX";

static void clean_up(void) {
    mark_directory_remove(dir);
}

static int make_ring(void) {
    char path[64];
    if (!mkdtemp(dir))
        abort();
    snprintf(path, sizeof path, "%s/7.ring", dir);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        abort();
    atexit(clean_up);
    return fd;
}

/* Restores everything that an input may have written to. */
static void reset_ring(int fd) {
    static const union {
        struct chokepoint_mark_header header;
        uint8_t bytes[REACH];
    } fresh = {.header = {.magic = CHOKEPOINT_MARK_MAGIC,
                          .version = CHOKEPOINT_MARK_VERSION,
                          .record_bytes = sizeof(struct chokepoint_mark_record),
                          .capacity = CHOKEPOINT_MARK_CAPACITY,
                          .pid = 7,
                          .rank = -1}};
    if (ftruncate(fd, (off_t)CHOKEPOINT_MARK_FILE_BYTES) < 0 ||
        pwrite(fd, &fresh, sizeof fresh, 0) != sizeof fresh)
        abort();
}

static void drain(struct mark_reader *reader) {
    if (mark_reader_drain(reader, check, NULL) < 0)
        abort();
}

/* Offsets mostly hit the header and the first records, whose numbers are read. */
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
    static int fd = -1;
    struct mark_reader reader;
    if (fd < 0)
        fd = make_ring();
    reset_ring(fd);
    if (mark_reader_open(&reader, dir) < 0)
        abort();
    drain(&reader);
    write_pieces(fd, &reader, data, n);
    drain(&reader);
    mark_reader_release(&reader);
    return 0;
}
