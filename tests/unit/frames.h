/* SPDX-License-Identifier: MIT */
/* Bodies of pushes for tests, made with the agent's encoder. */
#ifndef CHOKEPOINT_TESTS_FRAMES_H
#define CHOKEPOINT_TESTS_FRAMES_H

#include <string.h>

#include "common/error.h"
#include "common/wire.h"

static const struct column frames_cpu_columns[] = {
    {"user_ns", UNIT_NS, COLUMN_COUNTER, "user"},
    {"idle_ns", UNIT_NS, COLUMN_COUNTER, "idle"},
};
static const struct table frames_cpu = {"cpu",
                                        "core",
                                        "time by use",
                                        TABLE_SAMPLES,
                                        frames_cpu_columns,
                                        ARRAY_SIZE(frames_cpu_columns)};

/* Puts magic, stream and one table. */
static inline void frames_open(struct buffer *body, const char *host, uint64_t stream_id,
                               const struct table *table) {
    struct wire_stream stream = {.stream_id = stream_id, .period_ns = 100000000};
    strncpy(stream.host, host, INSTANCE_MAX);
    strcpy(stream.boot_id, "01234567-89ab-cdef-0123-456789abcdef");
    wire_put_stream(body, &stream);
    wire_put_table(body, 0, table);
}

/* Puts two rows, cpu0 and cpu1, whose counters grow with seq. */
static inline void frames_put(struct buffer *body, const struct table *table, uint64_t seq) {
    struct rows rows;
    struct rows *list[] = {&rows};
    const unsigned index[] = {0};
    struct buffer scratch = {0};
    const struct frame_head head = {.seq = seq,
                                    .mono_ns = (int64_t)(seq * 100000000),
                                    .wall_ns = (int64_t)(seq * 100000000),
                                    .slot_ns = (int64_t)(seq * 100000000)};
    if (rows_init(&rows, table, 2) < 0)
        return;
    for (int i = 0; i < 2; i++) {
        struct row *row = rows_append(&rows, i ? "cpu1" : "cpu0", 4);
        for (size_t c = 0; c < table->n_columns; c++)
            row->values[c] = (int64_t)(seq * 1000 + c);
    }
    wire_put_frame(body, &scratch, &head, list, index, 1);
    buffer_release(&scratch);
    rows_release(&rows);
}

static inline void frames_put_many(struct buffer *body, const struct table *table, uint64_t first,
                                   uint64_t last) {
    for (uint64_t seq = first; seq <= last; seq++)
        frames_put(body, table, seq);
}

#endif
