/* SPDX-License-Identifier: MIT */
/* The encoder. It builds a payload in a scratch buffer first, because the size stands before the
 * payload. */
#include "common/wire.h"

#include <string.h>

#include "common/crc32c.h"

static void put_string(struct buffer *out, const char *text, size_t size) {
    buffer_put_varint(out, size);
    buffer_put(out, text, size);
}

static void put_text(struct buffer *out, const char *text, size_t max) {
    put_string(out, text, strnlen(text, max));
}

static void put_record(struct buffer *out, enum wire_record_type type,
                       const struct buffer *payload) {
    size_t start = out->size;
    buffer_put_u8(out, (uint8_t)type);
    buffer_put_varint(out, payload->size);
    buffer_put(out, payload->data, payload->size);
    if (payload->error && !out->error)
        out->error = payload->error;
    if (out->error)
        out->size = start < out->size ? start : out->size;
    else
        buffer_put_u32le(out, crc32c(0, out->data + start, out->size - start));
}

void wire_put_stream(struct buffer *out, const struct wire_stream *stream) {
    struct buffer payload = {0};
    put_text(&payload, stream->host, INSTANCE_MAX);
    put_text(&payload, stream->boot_id, BOOT_ID_SIZE);
    buffer_put_u64le(&payload, stream->stream_id);
    buffer_put_varint(&payload, (uint64_t)stream->period_ns);
    buffer_put(out, WIRE_MAGIC, WIRE_MAGIC_SIZE);
    put_record(out, WIRE_STREAM, &payload);
    buffer_release(&payload);
}

void wire_put_run(struct buffer *out, const struct wire_run *run) {
    struct buffer payload = {0};
    put_text(&payload, run->id, WIRE_RUN_ID_MAX);
    put_text(&payload, run->name, INSTANCE_MAX);
    put_text(&payload, run->command, WIRE_COMMAND_MAX);
    put_record(out, WIRE_RUN, &payload);
    buffer_release(&payload);
}

void wire_put_table(struct buffer *out, unsigned index, const struct table *table) {
    struct buffer payload = {0};
    buffer_put_varint(&payload, index);
    put_text(&payload, table->name, TABLE_NAME_MAX);
    put_text(&payload, table->instance, TABLE_NAME_MAX);
    put_text(&payload, table->help, TABLE_HELP_MAX);
    buffer_put_u8(&payload, (uint8_t)table->kind);
    buffer_put_varint(&payload, table->n_columns);
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct column *column = &table->columns[i];
        put_text(&payload, column->name, TABLE_NAME_MAX);
        buffer_put_u8(&payload, (uint8_t)column->unit);
        buffer_put_u8(&payload, (uint8_t)column->kind);
        put_text(&payload, column->help, TABLE_HELP_MAX);
    }
    put_record(out, WIRE_TABLE, &payload);
    buffer_release(&payload);
}

static void put_section(struct buffer *out, const struct rows *rows, unsigned table) {
    buffer_put_varint(out, table);
    buffer_put_varint(out, rows->n);
    for (size_t i = 0; i < rows->n; i++) {
        const struct row *row = &rows->items[i];
        buffer_put_u8(out, row->flags);
        put_string(out, row->name, row->name_size);
        for (size_t c = 0; c < rows->table->n_columns; c++)
            buffer_put_zigzag(out, row->values[c]);
    }
}

static bool has_section(const struct rows *rows) {
    return rows && (rows->n > 0 || rows->sampled);
}

static void put_head(struct buffer *out, const struct frame_head *head, struct rows *const *rows,
                     size_t n) {
    size_t sections = 0;
    for (size_t i = 0; i < n; i++)
        sections += has_section(rows[i]);
    buffer_put_varint(out, head->seq);
    buffer_put_zigzag(out, head->wall_ns);
    buffer_put_zigzag(out, head->mono_ns);
    buffer_put_zigzag(out, head->slot_ns);
    buffer_put_zigzag(out, head->late_ns);
    buffer_put_varint(out, head->missed);
    buffer_put_varint(out, head->lost);
    buffer_put_varint(out, sections);
}

void wire_put_frame(struct buffer *out, struct buffer *scratch, const struct frame_head *head,
                    struct rows *const *rows, const unsigned *tables, size_t n) {
    buffer_reset(scratch);
    put_head(scratch, head, rows, n);
    for (size_t i = 0; i < n; i++)
        if (has_section(rows[i]))
            put_section(scratch, rows[i], tables[i]);
    put_record(out, WIRE_FRAME, scratch);
}

/* ---- the packed form ---- */

static void put_packed_section(struct buffer *out, struct rows *rows, unsigned table) {
    const struct row_pack *pack = rows_packed(rows);
    if (pack->bytes.error && !out->error)
        out->error = pack->bytes.error;
    buffer_put_varint(out, table);
    buffer_put_varint(out, rows->n);
    buffer_put_varint(out, pack->n_names);
    for (size_t i = 0; i < pack->n_names; i++)
        put_string(out, pack->names[i].text, pack->names[i].size);
    buffer_put(out, pack->bytes.data, pack->bytes.size);
}

void wire_put_packed_frame(struct buffer *out, struct buffer *scratch,
                           const struct frame_head *head, struct rows *const *rows,
                           const unsigned *tables, size_t n) {
    buffer_reset(scratch);
    put_head(scratch, head, rows, n);
    for (size_t i = 0; i < n; i++)
        if (has_section(rows[i]))
            put_packed_section(scratch, rows[i], tables[i]);
    put_record(out, WIRE_PACKED, scratch);
}
