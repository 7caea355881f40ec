/* SPDX-License-Identifier: MIT */
/*
 * Tables that need not be sent again: they are three quarters of a push of one sample. A reader
 * numbers them, and a sender writes the number instead.
 */
#include <string.h>

#include "common/crc32c.h"
#include "common/cursor.h"
#include "common/wire.h"

#define KNOWN_SIZE 14 /* type, size, id, checksum */

/* The record at p up to its end by its size; NULL if it is not complete. */
static const uint8_t *skip_record(const uint8_t *p, const uint8_t *end, uint8_t type) {
    struct cursor c = {p, end, false};
    if (p == end || *c.p++ != type)
        return NULL;
    uint64_t size = cursor_varint(&c);
    if (c.bad || size > WIRE_RECORD_MAX || (uint64_t)(end - c.p) < size + 4)
        return NULL;
    return c.p + size + 4;
}

bool wire_find_tables(const void *data, size_t size, struct span *ret_tables) {
    const uint8_t *begin = data, *end = begin + size, *p = NULL;
    if (size > WIRE_MAGIC_SIZE)
        p = skip_record(begin + WIRE_MAGIC_SIZE, end, WIRE_STREAM);
    if (!p)
        return false;
    begin = p;
    for (const uint8_t *next; (next = skip_record(p, end, WIRE_TABLE));)
        p = next;
    *ret_tables = (struct span){(const char *)begin, (size_t)(p - begin)};
    return p != begin;
}

void wire_replace_tables(struct buffer *body, struct span tables, uint64_t id) {
    size_t at = (size_t)((const uint8_t *)tables.data - body->data);
    uint8_t record[KNOWN_SIZE] = {WIRE_KNOWN, 8};
    if (tables.size < sizeof record) /* every table is longer */
        return;
    for (size_t i = 0; i < 8; i++)
        record[2 + i] = (uint8_t)(id >> 8 * i);
    uint32_t crc = crc32c(0, record, 10);
    for (size_t i = 0; i < 4; i++)
        record[10 + i] = (uint8_t)(crc >> 8 * i);
    memcpy(body->data + at, record, sizeof record);
    memmove(body->data + at + sizeof record, body->data + at + tables.size,
            body->size - at - tables.size);
    body->size -= tables.size - sizeof record;
}

void wire_borrow_tables(struct wire_reader *reader, struct wire_table *const tables[TABLES_MAX]) {
    for (size_t i = 0; i < TABLES_MAX; i++) {
        reader->tables[i] = tables[i];
        reader->borrowed |= tables[i] ? UINT64_C(1) << i : 0;
    }
}
