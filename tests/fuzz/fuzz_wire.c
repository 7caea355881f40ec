/* SPDX-License-Identifier: MIT */
/*
 * The decoder of the byte form. If the first byte is even, the bytes follow as they are; if odd,
 * the checksum of every record is corrected first, since a fuzzer would never get past it.
 */
#include <stdlib.h>
#include <string.h>

#include "common/crc32c.h"
#include "common/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_size(const uint8_t **p, const uint8_t *end, uint64_t *ret_size) {
    *ret_size = 0;
    for (unsigned shift = 0; shift < 63 && *p < end; shift += 7) {
        uint8_t byte = *(*p)++;
        *ret_size |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static void mend_checksums(uint8_t *data, size_t size) {
    uint8_t *record = data + WIRE_MAGIC_SIZE;
    const uint8_t *end = data + size;
    uint64_t payload;
    if (size < WIRE_MAGIC_SIZE)
        return;
    memcpy(data, WIRE_MAGIC, WIRE_MAGIC_SIZE);
    while (record < end) {
        const uint8_t *p = record + 1;
        if (!read_size(&p, end, &payload) || payload + 4 > (uint64_t)(end - p))
            return;
        uint8_t *stop = record + (p - record) + payload;
        uint32_t crc = crc32c(0, record, (size_t)(stop - record));
        for (int i = 0; i < 4; i++)
            stop[i] = (uint8_t)(crc >> (8 * i));
        record = stop + 4;
    }
}

/* The reader's promises about each of its rows. */
static void check_row(const struct table *table, const struct wire_row *row) {
    if (table->n_columns == 0 || table->n_columns > TABLE_COLUMNS_MAX ||
        !instance_name_valid(row->name.data, row->name.size) ||
        !table_name_valid(table->name, strlen(table->name)))
        abort();
}

/* Sections of a packed frame have the rows that it has. */
static void check_sections(const struct wire_reader *reader, struct wire_record by_rows) {
    static int64_t cells[TABLE_COLUMNS_MAX][7];
    struct wire_record record = by_rows;
    struct wire_section section = {0};
    struct wire_row row;
    const struct table *table;
    unsigned index;
    uint8_t names[7];
    int64_t *columns[TABLE_COLUMNS_MAX];
    for (size_t c = 0; c < TABLE_COLUMNS_MAX; c++)
        columns[c] = cells[c];
    while (wire_next_section(reader, &record, &section))
        for (size_t n; (n = wire_section_rows(&section, 7, columns, names));)
            for (size_t r = 0; r < n; r++) {
                if (!wire_frame_row(reader, &by_rows, &table, &index, &row) ||
                    index != section.index || row.name.data != section.names[names[r]].data)
                    abort();
                for (size_t c = 0; c < table->n_columns; c++)
                    if (row.values[c] != cells[c][r])
                        abort();
            }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct wire_reader reader;
    struct wire_record record;
    const struct table *table;
    struct wire_row row;
    unsigned index;
    if (size == 0)
        return 0;
    uint8_t *copy = malloc(size);
    memcpy(copy, data + 1, size - 1);
    if (data[0] & 1)
        mend_checksums(copy, size - 1);
    wire_reader_init(&reader, copy, size - 1);
    while (wire_next(&reader, &record) == 0) {
        if (record.offset + record.size > size - 1)
            abort();
        if (record.type == WIRE_FRAME && record.packed)
            check_sections(&reader, record);
        while (record.type == WIRE_FRAME && wire_frame_row(&reader, &record, &table, &index, &row))
            check_row(table, &row);
    }
    wire_reader_release(&reader);
    free(copy);
    return 0;
}
