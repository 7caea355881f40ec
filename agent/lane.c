/* SPDX-License-Identifier: MIT */
#include "agent/lane.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/sampler.h"

int lane_init(struct lane *lane, size_t capacity) {
    *lane = (struct lane){.capacity = capacity};
    if (capacity > TABLES_MAX)
        return -E2BIG;
    lane->rows = calloc(capacity, sizeof *lane->rows);
    lane->frame_rows = calloc(capacity, sizeof *lane->frame_rows);
    lane->tables = calloc(capacity, sizeof *lane->tables);
    lane->indexes = calloc(capacity, sizeof *lane->indexes);
    return lane->rows && lane->frame_rows && lane->tables && lane->indexes ? 0 : -ENOMEM;
}

void lane_release(struct lane *lane) {
    for (size_t i = 0; i < lane->n; i++)
        rows_release(&lane->rows[i]);
    buffer_release(&lane->frame);
    buffer_release(&lane->scratch);
    free(lane->rows);
    free(lane->frame_rows);
    free(lane->tables);
    free(lane->indexes);
    *lane = (struct lane){0};
}

int lane_add(struct lane *lane, const struct table *table, size_t max_rows) {
    size_t i = lane->n;
    if (i == lane->capacity)
        return -E2BIG;
    int r = rows_init(&lane->rows[i], table, max_rows);
    if (r < 0)
        return r;
    lane->tables[i] = table;
    lane->frame_rows[i] = &lane->rows[i];
    lane->indexes[i] = (unsigned)i;
    lane->n++;
    return 0;
}

/* No varint is longer than ten bytes; a packed row has three of its own. */
static size_t frame_bytes_at_most(const struct lane *lane) {
    size_t size = 128 + 3 * 10 * lane->n;
    for (size_t i = 0; i < lane->n; i++)
        size +=
            lane->rows[i].capacity * (30 + 2 + INSTANCE_MAX + 10 * lane->rows[i].table->n_columns);
    return size;
}

int lane_reserve(struct lane *lane) {
    int r = buffer_reserve(&lane->scratch, frame_bytes_at_most(lane));
    return r < 0 ? r : buffer_reserve(&lane->frame, frame_bytes_at_most(lane));
}

int lane_send(struct lane *lane, const struct frame_head *head, const struct frame_sink *sink) {
    uint64_t seq = lane->head.seq + 1;
    lane->head = *head;
    lane->head.seq = seq;
    buffer_reset(&lane->frame);
    if (lane->packed)
        wire_put_packed_frame(&lane->frame, &lane->scratch, &lane->head, lane->frame_rows,
                              lane->indexes, lane->n);
    else
        wire_put_frame(&lane->frame, &lane->scratch, &lane->head, lane->frame_rows, lane->indexes,
                       lane->n);
    if (lane->frame.error)
        return lane->frame.error;
    return sink->append(sink->ctx, lane->frame.data, lane->frame.size, seq);
}

void lane_reset(struct lane *lane, size_t first) {
    for (size_t i = first; i < lane->n; i++)
        rows_reset(&lane->rows[i]);
}
