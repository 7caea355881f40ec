/* SPDX-License-Identifier: MIT */
/*
 * Bodies of pushes go through the check and, if they pass, into a real store: whatever passes must
 * be storable, or else its agent would push it for ever. Checksums of records are corrected first,
 * since a fuzzer does not guess them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/ingest.h"
#include "common/crc32c.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];
static struct store *store;
static struct ingest *ingest;

static void clean_up(void) {
    ingest_free(ingest);
    store_close(store);
    unlink(path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    int64_t run;
    char why[256] = "";
    const struct run_begin begin = {.command = "fuzz", .wall_ns = 1, .mono_ns = 1, .period_ns = 1};
    snprintf(path, sizeof path, "/tmp/fuzz-ingest-%ld.db", (long)getpid());
    if (store_open_write(path, &store, why, sizeof why) || store_run_begin(store, &begin, &run) ||
        ingest_new(store, run, &ingest)) {
        fprintf(stderr, "fuzz_ingest: %s\n", why);
        exit(1);
    }
    atexit(clean_up);
    return 0;
}

static size_t read_varint(const uint8_t *p, const uint8_t *end, uint64_t *ret_value) {
    *ret_value = 0;
    for (size_t i = 0; i < 10 && p + i < end; i++) {
        *ret_value |= (uint64_t)(p[i] & 0x7f) << (7 * i);
        if (p[i] < 0x80)
            return i + 1;
    }
    return 0;
}

static void mend(uint8_t *data, size_t size) {
    uint8_t *p = data + WIRE_MAGIC_SIZE, *end = data + size;
    while (size > WIRE_MAGIC_SIZE && p < end) {
        uint64_t payload;
        size_t n = read_varint(p + 1, end, &payload);
        if (n == 0 || payload > size || (uint64_t)(end - p) < 1 + n + payload + 4)
            return;
        uint8_t *stop = p + 1 + n + payload;
        uint32_t crc = crc32c(0, p, (size_t)(stop - p));
        for (int i = 0; i < 4; i++)
            stop[i] = (uint8_t)(crc >> (8 * i));
        p = stop + 4;
    }
}

static void store_it(struct ingest_push *push) {
    if (store_begin(store))
        abort();
    int r = ingest_write(ingest, push);
    if (r) {
        fprintf(stderr, "checked, and not stored: %s (%s)\n", strerror(-r), store_error(store));
        abort();
    }
    store_rollback(store);
}

/* The same body with the number in place of its tables must pass, too. */
static void leave_out_tables(const struct ingest_push *checked) {
    struct buffer body = {0};
    struct span tables;
    buffer_put(&body, checked->body, checked->size);
    if (checked->tables && wire_find_tables(body.data, body.size, &tables)) {
        wire_replace_tables(&body, tables, checked->tables);
        struct ingest_push push = {.body = body.data, .size = body.size};
        if (ingest_check(ingest, &push) || push.tables != checked->tables)
            abort();
        store_it(&push);
    }
    buffer_release(&body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ingest_push push = {.body = data, .size = size, .have_clock = true};
    ingest_check(ingest, &push);
    uint8_t *copy = malloc(size ? size : 1);
    if (size)
        memcpy(copy, data, size);
    mend(copy, size);
    push.body = copy;
    if (ingest_check(ingest, &push) == 0) {
        store_it(&push);
        leave_out_tables(&push);
    }
    free(copy);
    return 0;
}
