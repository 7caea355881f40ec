/* SPDX-License-Identifier: MIT */
#include "agent/sampler/frame_stream.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/sampler/sampler.h"

int frame_stream_init(struct frame_stream *stream, size_t capacity) {
    *stream = (struct frame_stream){.capacity = capacity};
    if (capacity > TABLES_MAX)
        return -E2BIG;
    stream->rows = calloc(capacity, sizeof *stream->rows);
    stream->frame_rows = calloc(capacity, sizeof *stream->frame_rows);
    stream->tables = calloc(capacity, sizeof *stream->tables);
    stream->indexes = calloc(capacity, sizeof *stream->indexes);
    return stream->rows && stream->frame_rows && stream->tables && stream->indexes ? 0 : -ENOMEM;
}

void frame_stream_release(struct frame_stream *stream) {
    for (size_t i = 0; i < stream->n; i++)
        rows_release(&stream->rows[i]);
    buffer_release(&stream->frame);
    buffer_release(&stream->scratch);
    free(stream->rows);
    free(stream->frame_rows);
    free(stream->tables);
    free(stream->indexes);
    *stream = (struct frame_stream){0};
}

int frame_stream_add(struct frame_stream *stream, const struct table *table, size_t max_rows) {
    size_t i = stream->n;
    if (i == stream->capacity)
        return -E2BIG;
    int r = (stream->packed ? rows_init_packed : rows_init)(&stream->rows[i], table, max_rows);
    if (r < 0)
        return r;
    stream->tables[i] = table;
    stream->frame_rows[i] = &stream->rows[i];
    stream->indexes[i] = (unsigned)i;
    stream->n++;
    return 0;
}

/* A varint has at most ten bytes; a packed row has three of its own. */
static size_t frame_bytes_at_most(const struct frame_stream *stream) {
    size_t size = 128 + 3 * 10 * stream->n;
    for (size_t i = 0; i < stream->n; i++)
        size += stream->rows[i].capacity *
                (30 + 2 + INSTANCE_MAX + 10 * stream->rows[i].table->n_columns);
    return size;
}

int frame_stream_reserve(struct frame_stream *stream) {
    int r = buffer_reserve(&stream->scratch, frame_bytes_at_most(stream));
    return r < 0 ? r : buffer_reserve(&stream->frame, frame_bytes_at_most(stream));
}

int frame_stream_send(struct frame_stream *stream, const struct frame_head *head,
                      const struct frame_sink *sink) {
    uint64_t seq = stream->head.seq + 1;
    stream->head = *head;
    stream->head.seq = seq;
    buffer_reset(&stream->frame);
    if (stream->packed)
        wire_put_packed_frame(&stream->frame, &stream->scratch, &stream->head, stream->frame_rows,
                              stream->indexes, stream->n);
    else
        wire_put_frame(&stream->frame, &stream->scratch, &stream->head, stream->frame_rows,
                       stream->indexes, stream->n);
    if (stream->frame.error)
        return stream->frame.error;
    return sink->append(sink->ctx, stream->frame.data, stream->frame.size, seq);
}

void frame_stream_reset(struct frame_stream *stream, size_t first) {
    for (size_t i = first; i < stream->n; i++)
        rows_reset(&stream->rows[i]);
}
