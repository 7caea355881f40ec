/* SPDX-License-Identifier: MIT */
/*
 * A rank's file as a faulty or malicious rank may leave it: the input overwrites a valid header,
 * the totals and the first records, and sets the ring's counter.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/shim/calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CUT 200 /* bytes of the input that go into the header */

static char dir[] = "/tmp/fuzz-calls-XXXXXX";
static char path[64];

static void clean_up(void) {
    unlink(path);
    rmdir(dir);
}

static int open_file(void) {
    if (!mkdtemp(dir))
        abort();
    snprintf(path, sizeof path, "%s/42.calls", dir);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)CALL_FILE_BYTES) < 0)
        abort();
    atexit(clean_up);
    return fd;
}

static void put(int fd, const void *data, size_t size, off_t at) {
    if (pwrite(fd, data, size, at) != (ssize_t)size)
        abort();
}

/* The first byte decides how much of the header the input may overwrite. */
static void write_header(int fd, const uint8_t *data, size_t size) {
    struct call_file_header h = {.magic = CALL_FILE_MAGIC,
                                 .version = CALL_FILE_VERSION,
                                 .record_bytes = sizeof(struct call_record),
                                 .first_capacity = CALL_FILE_CAPACITY,
                                 .capacity = CALL_FILE_CAPACITY,
                                 .n_functions = CALL_COUNT,
                                 .table_hash = CALL_TABLE_HASH,
                                 .pid = 42,
                                 .world_size = 4,
                                 .head = 300};
    size_t spoil = size > CUT ? CUT : size;
    if (spoil > 4) {
        h.head = data[2] | (uint64_t)data[3] << 8;
        memcpy(&h.rank, data + 4, spoil < 24 ? spoil - 4 : 20);
    }
    if (spoil > 24 && data[0] & 1)
        memcpy((char *)&h + (data[1] % 64) * 4, data + 24, spoil - 24);
    put(fd, &h, sizeof h, 0);
}

static int check(void *ctx, const struct call_rank *rank, const struct call_event *e) {
    (void)ctx;
    if (e->function >= CALL_COUNT || e->enter_ns < 0 || e->exit_ns < e->enter_ns || e->bytes < 0 ||
        e->inside_ns < 0 || e->inside_ns > e->exit_ns - e->enter_ns || e->polls < 0 ||
        e->peer < -1 || (e->peer >= 0 && e->peer >= rank->world_size) || !call_name(e->function))
        abort();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int fd = -1;
    static struct call_totals totals;
    struct call_reader reader;
    if (fd < 0)
        fd = open_file();
    write_header(fd, data, size);
    if (size > CUT) {
        size_t n = size - CUT < 16384 ? size - CUT : 16384;
        put(fd, data + CUT, n, CALL_FILE_TOTALS);
        put(fd, data + CUT, n, (off_t)CALL_FILE_RECORDS);
    }
    if (call_reader_open(&reader, dir) < 0)
        abort();
    call_reader_scan(&reader);
    for (size_t i = 0; i < reader.n_ranks; i++) {
        for (int k = 0; k < 4; k++)
            call_rank_drain(&reader.ranks[i], 100000, k * INT64_C(150000000), check, NULL);
        if (call_rank_totals(&reader.ranks[i], 1000, &totals) == 0)
            for (size_t k = 0; k < CALL_FILE_THREADS; k++)
                if (totals.now[k].enter_ns < 0 || totals.now[k].enter_ns > 1000)
                    abort();
    }
    call_reader_release(&reader);
    return 0;
}
