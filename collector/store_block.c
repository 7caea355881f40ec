/* SPDX-License-Identifier: MIT */
/*
 * Unpacks blocks. Every size is checked against the rows of the block before bytes are read, so a
 * stranger's block costs no more than its rows, and BLOCK_ROWS_A_BYTE bounds those by its size.
 */
#include "collector/store_block.h"

#include <errno.h>
#include <string.h>

#include "common/table.h"

static uint8_t take_u8(struct cursor *c) {
    if (c->p == c->end) {
        c->bad = true;
        return 0;
    }
    return *c->p++;
}

static bool codec_is_good(uint8_t codec) {
    uint8_t kind = codec & 0xf;
    return kind < BLOCK_CODECS_ && !(codec & ~(0xf | BLOCK_SPARSE | BLOCK_ZIPPED)) &&
           (!(codec & BLOCK_SPARSE) || kind == BLOCK_NUMBERS || kind == BLOCK_STEPS);
}

static void open_column(struct cursor *c, struct block_column *column, const unsigned *before) {
    uint64_t number = cursor_varint(c);
    column->codec = take_u8(c);
    uint64_t unpacked = column->codec & BLOCK_ZIPPED ? cursor_varint(c) : 0;
    uint64_t size = cursor_varint(c);
    c->bad = c->bad || number >= BLOCK_COLUMNS_MAX || (before && number <= *before) ||
             !codec_is_good(column->codec) || unpacked > BLOCK_COLUMN_BYTES ||
             size > BLOCK_COLUMN_BYTES;
    column->number = (unsigned)number;
    column->size = (size_t)size;
    column->unpacked = column->codec & BLOCK_ZIPPED ? (size_t)unpacked : (size_t)size;
}

int block_open(const void *data, size_t size, struct block *ret_block) {
    struct cursor cursor = {data, (const uint8_t *)data + size, false}, *c = &cursor;
    uint8_t form = take_u8(c);
    uint64_t n_rows = cursor_varint(c), n_columns = cursor_varint(c);
    if (c->bad || form != BLOCK_FORM || n_rows == 0 || n_rows > BLOCK_ROWS_MAX ||
        n_rows / BLOCK_ROWS_A_BYTE > size || n_columns > BLOCK_COLUMNS_MAX)
        return -EBADMSG;
    ret_block->n_rows = (size_t)n_rows;
    ret_block->n_columns = (size_t)n_columns;
    for (size_t i = 0; i < n_columns && !c->bad; i++)
        open_column(c, &ret_block->columns[i], i ? &ret_block->columns[i - 1].number : NULL);
    for (size_t i = 0; i < n_columns && !c->bad; i++) {
        struct block_column *column = &ret_block->columns[i];
        c->bad = column->size > (size_t)(c->end - c->p);
        column->data = c->p;
        if (!c->bad)
            c->p += column->size;
    }
    return c->bad ? -EBADMSG : 0;
}

/* ---- columns ---- */

static int64_t block_value_of(uint64_t code) {
    if (!code)
        return VALUE_ABSENT;
    code--;
    return (int64_t)(code >> 1 ^ -(code & 1));
}

static void read_runs(struct cursor *c, size_t n, int64_t *values) {
    while (n && !c->bad) {
        uint64_t length = cursor_varint(c);
        int64_t value = block_value_of(cursor_varint(c));
        if (length == 0 || length > n)
            c->bad = true;
        for (size_t i = 0; !c->bad && i < length; i++)
            *values++ = value;
        n -= c->bad ? 0 : (size_t)length;
    }
}

static void read_words(struct cursor *c, size_t n, int64_t *values) {
    int64_t words[256];
    size_t n_words = (size_t)take_u8(c) + 1;
    for (size_t i = 0; i < n_words; i++)
        words[i] = block_value_of(cursor_varint(c));
    for (size_t i = n_words; i < 256; i++)
        words[i] = VALUE_ABSENT;
    if (c->bad || (size_t)(c->end - c->p) < n) {
        c->bad = true;
        return;
    }
    uint8_t most = 0;
    for (size_t i = 0; i < n; i++) {
        most = c->p[i] > most ? c->p[i] : most;
        values[i] = words[c->p[i]];
    }
    c->bad = most >= n_words;
    c->p += n;
}

/* Inlined with a constant width, so that the compiler makes a loop without branches of each. */
static inline __attribute__((always_inline)) void
join_planes(const uint8_t *p, size_t n, size_t width, uint64_t least, int64_t *values) {
    for (size_t i = 0; i < n; i++) {
        uint64_t value = 0;
        for (size_t plane = 0; plane < width; plane++)
            value |= (uint64_t)p[plane * n + i] << 8 * plane;
        values[i] = (int64_t)(value + least);
    }
}

static void read_planes(struct cursor *c, size_t n, int64_t least, int64_t *values) {
    uint8_t width = take_u8(c);
    if (c->bad || width > 8 || (size_t)(c->end - c->p) / (width ? width : 1) < n * (width > 0)) {
        c->bad = true;
        return;
    }
    uint64_t base = (uint64_t)least;
    switch (width) {
    case 0:
        join_planes(c->p, n, 0, base, values);
        break;
    case 1:
        join_planes(c->p, n, 1, base, values);
        break;
    case 2:
        join_planes(c->p, n, 2, base, values);
        break;
    case 3:
        join_planes(c->p, n, 3, base, values);
        break;
    case 4:
        join_planes(c->p, n, 4, base, values);
        break;
    default:
        join_planes(c->p, n, width, base, values);
        break;
    }
    c->p += n * width;
}

static void read_numbers(struct cursor *c, size_t n, int64_t *values) {
    int64_t least = cursor_zigzag(c);
    read_planes(c, n, least, values);
}

static void read_steps(struct cursor *c, size_t n, int64_t *values) {
    int64_t first = cursor_zigzag(c), least = cursor_zigzag(c);
    values[0] = first;
    read_planes(c, n - 1, least, values + 1);
    for (size_t i = 1; !c->bad && i < n; i++)
        values[i] = (int64_t)((uint64_t)values[i - 1] + (uint64_t)values[i]);
}

static bool is_present(const uint8_t *presence, size_t i) {
    return presence[i / 8] >> i % 8 & 1;
}

static size_t count_present(const uint8_t *presence, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += is_present(presence, i);
    return count;
}

static void read_dense(struct cursor *c, uint8_t codec, size_t n, int64_t *values) {
    if (n == 0)
        c->bad = true; /* such a column is packed as a run */
    else if ((codec & 0xf) == BLOCK_NUMBERS)
        read_numbers(c, n, values);
    else
        read_steps(c, n, values);
}

static void read_sparse(struct cursor *c, uint8_t codec, size_t n, int64_t *dense,
                        int64_t *values) {
    const uint8_t *presence = c->p;
    if ((size_t)(c->end - c->p) < (n + 7) / 8) {
        c->bad = true;
        return;
    }
    c->p += (n + 7) / 8;
    read_dense(c, codec, count_present(presence, n), dense);
    for (size_t i = 0; !c->bad && i < n; i++)
        values[i] = is_present(presence, i) ? *dense++ : VALUE_ABSENT;
}

static void read_bytes(struct block_work *work, struct cursor *c, uint8_t codec, size_t n,
                       int64_t *values) {
    switch (codec & (0xf | BLOCK_SPARSE)) {
    case BLOCK_RUNS:
        read_runs(c, n, values);
        break;
    case BLOCK_WORDS:
        read_words(c, n, values);
        break;
    case BLOCK_NUMBERS:
    case BLOCK_STEPS:
        read_dense(c, codec, n, values);
        break;
    default:
        read_sparse(c, codec, n, block_work_values(work), values);
        break;
    }
}

static const struct block_column *column_of(const struct block *block, unsigned number) {
    for (size_t i = 0; i < block->n_columns; i++)
        if (block->columns[i].number == number)
            return &block->columns[i];
    return NULL;
}

int block_read(struct block_work *work, const struct block *block, unsigned number,
               int64_t *ret_values) {
    const struct block_column *column = column_of(block, number);
    if (!column) {
        for (size_t i = 0; i < block->n_rows; i++)
            ret_values[i] = VALUE_ABSENT;
        return BLOCK_LACKS;
    }
    const uint8_t *bytes = column->data;
    if (column->codec & BLOCK_ZIPPED)
        bytes = block_unzip(work, column->data, column->size, column->unpacked);
    if (!bytes)
        return -EBADMSG;
    struct cursor c = {bytes, bytes + column->unpacked, false};
    read_bytes(work, &c, column->codec, block->n_rows, ret_values);
    return c.bad || c.p != c.end ? -EBADMSG : 0;
}
