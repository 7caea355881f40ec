/* SPDX-License-Identifier: MIT */
/* Any bytes as a block of a ring, as lineages, and as a stream whose rows are marked. */
#include <stdlib.h>
#include <string.h>

#include "agent/ring/ring_block.h"
#include "agent/ring/ring_marks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void mark_all(struct ring_marks *marks, uint8_t *bytes, size_t size) {
    struct wire_reader reader;
    struct wire_record record;
    wire_reader_init(&reader, bytes, size);
    while (wire_next(&reader, &record) == 0)
        if (record.type == WIRE_FRAME)
            ring_marks_set(marks, &reader, record, bytes);
    wire_reader_release(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct job_choice choice = {.kind = JOB_UNIT, .value = "a"};
    struct ring_zip *zip = NULL;
    struct ring_marks *marks = NULL;
    struct buffer to = {0};
    struct ring_block block;
    uint8_t *bytes = malloc(size + 1);
    if (bytes && ring_zip_new(&zip) == 0 && ring_marks_new(&choice, 1, &marks) == 0) {
        memcpy(bytes, data, size);
        if (size >= RING_BLOCK_HEAD && ring_block_read(data, &block) == 0 &&
            block.stored <= size - RING_BLOCK_HEAD)
            ring_block_open(data, &block, data + RING_BLOCK_HEAD, zip, &to);
        ring_marks_take(marks, data, size);
        mark_all(marks, bytes, size);
    }
    buffer_release(&to);
    ring_marks_free(marks);
    ring_zip_free(zip);
    free(bytes);
    return 0;
}
