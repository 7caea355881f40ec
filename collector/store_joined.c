/* SPDX-License-Identifier: MIT */
/*
 * Stores the rows of a stream a second time, joined to about a second each and packed. Large
 * recordings are read from these: they are a tenth of the rows, need no key each, and are read in a
 * fiftieth of the time. The plain rows are for people, the joined ones for analysis.
 *
 * Only rows of one transaction are joined, and committed with it, so that a restart loses nothing.
 * An agent pushes about once a second.
 *
 *     1, sections of: table, n columns, bytes that follow, rows of: instance, time, each less the
 *     row's before; interval, values of all columns, each as value_code()
 */
#include "collector/store_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

#define JOINED_FORM 1
#define JOINED_BLOB_BYTES (64u << 10) /* then a new value begins: readers refuse larger ones */
#define JOINED_FULL_NS (NS_PER_S / 100 * 95)  /* frames come some microseconds early or late */
#define JOINED_MOST_NS (NS_PER_S / 100 * 105) /* a longer row would be too coarse */
#define JOINED_ROWS_MAX (64u << 10)           /* of a table; above this they are written early */
#define JOINED_ROWS_KEPT (4u << 10)           /* room that is kept for the next transaction */

void joined_clear(struct series *series) {
    for (size_t i = 0; i < series->n; i++)
        series->items[i].joined = 0;
    series->n_joined = 0;
    if (series->joined_capacity <= JOINED_ROWS_KEPT)
        return;
    free(series->joined);
    free(series->joined_values);
    series->joined = NULL;
    series->joined_values = NULL;
    series->joined_capacity = 0;
}

/* ---- joining ---- */

static bool can_join(const struct joined_row *to, const int64_t *was, const struct shape *shape,
                     int64_t t_ns, int64_t interval_ns, const int64_t *values) {
    int64_t sum;
    if (to->shape != shape || to->interval_ns <= 0 || interval_ns <= 0 ||
        to->interval_ns >= JOINED_FULL_NS || interval_ns > JOINED_MOST_NS - to->interval_ns ||
        __builtin_add_overflow(to->t_ns, interval_ns, &sum) || sum != t_ns)
        return false;
    for (size_t i = 0; i < shape->n_columns; i++) {
        int64_t before = was[shape->ordinals[i]];
        if (!shape->counters[i])
            continue;
        if ((before == VALUE_ABSENT) != (values[i] == VALUE_ABSENT) ||
            (before != VALUE_ABSENT && __builtin_add_overflow(before, values[i], &sum)))
            return false;
    }
    return true;
}

static void join_row(struct joined_row *to, int64_t *was, int64_t t_ns, int64_t interval_ns,
                     const int64_t *values) {
    const struct shape *shape = to->shape;
    to->t_ns = t_ns;
    to->interval_ns += interval_ns;
    for (size_t i = 0; i < shape->n_columns; i++) {
        int64_t *value = &was[shape->ordinals[i]];
        if (values[i] != VALUE_ABSENT)
            *value = shape->counters[i] ? *value + values[i] : values[i];
    }
}

static int grow_joined(struct series *series) {
    size_t capacity = series->joined_capacity ? 2 * series->joined_capacity : 16;
    struct joined_row *rows = realloc(series->joined, capacity * sizeof *rows);
    if (rows)
        series->joined = rows;
    int64_t *values = realloc(series->joined_values, capacity * series->stride * sizeof *values);
    if (values)
        series->joined_values = values;
    if (!rows || !values)
        return -ENOMEM;
    series->joined_capacity = capacity;
    return 0;
}

int joined_add(struct store *store, struct stream *stream, struct series *series, struct base *base,
               const struct shape *shape, int64_t t_ns, int64_t interval_ns,
               const int64_t *values) {
    size_t at = base->joined - 1; /* added to its open row, if it has one */
    if (base->joined && can_join(&series->joined[at], series->joined_values + at * series->stride,
                                 shape, t_ns, interval_ns, values)) {
        join_row(&series->joined[at], series->joined_values + at * series->stride, t_ns,
                 interval_ns, values);
        return 0;
    }
    int r = series->n_joined < JOINED_ROWS_MAX ? 0 : joined_save(store, stream);
    if (!r && series->n_joined == series->joined_capacity)
        r = grow_joined(series);
    if (r)
        return r;
    at = series->n_joined++;
    base->joined = at + 1;
    series->joined[at] = (struct joined_row){base->instance, t_ns, interval_ns, shape};
    int64_t *row = series->joined_values + at * series->stride;
    for (size_t c = 0; c < series->stride; c++)
        row[c] = VALUE_ABSENT;
    for (size_t i = 0; i < shape->n_columns; i++)
        row[shape->ordinals[i]] = values[i];
    return 0;
}

/* ---- writing ---- */

/* Zigzag code plus one; 0 is absent. */
static uint64_t value_code(int64_t value) {
    return ((uint64_t)value << 1 ^ (uint64_t)(value >> 63)) + 1;
}

static int64_t value_of_code(uint64_t code) {
    code--;
    return (int64_t)(code >> 1 ^ -(code & 1));
}

static int insert_blob(struct store *store, const struct stream *stream, struct buffer *blob) {
    int r = blob->error;
    sqlite3_stmt *statement = r ? NULL : sql_statement(store, SQL_JOINED_INSERT, &r);
    if (!statement)
        return r;
    sql_bind(statement, "i", stream->id);
    sqlite3_bind_blob64(statement, 2, blob->data, blob->size, SQLITE_STATIC);
    r = sql_errno(sqlite3_step(statement));
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    buffer_reset(blob);
    return r;
}

/* Ids come from the file, which may be a stranger's. */
static int64_t less_wrapping(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static void put_row(struct buffer *rows, const struct series *series, size_t at, bool first) {
    static const struct joined_row nothing;
    const struct joined_row *row = &series->joined[at], *before = first ? &nothing : row - 1;
    const int64_t *values = series->joined_values + at * series->stride;
    buffer_put_zigzag(rows, less_wrapping(row->instance, before->instance));
    buffer_put_zigzag(rows, less_wrapping(row->t_ns, before->t_ns));
    buffer_put_varint(rows, value_code(row->interval_ns));
    for (size_t c = 0; c < series->stride; c++)
        buffer_put_varint(rows, value_code(values[c]));
}

static void put_section(struct buffer *blob, const struct series *series, struct buffer *rows) {
    if (!blob->size)
        buffer_put_u8(blob, JOINED_FORM);
    buffer_put_varint(blob, (uint64_t)series->table->id);
    buffer_put_varint(blob, series->stride);
    buffer_put_varint(blob, rows->size);
    buffer_put(blob, rows->data, rows->size);
    if (rows->error && !blob->error)
        blob->error = rows->error;
    buffer_reset(rows);
}

static int put_series(struct store *store, const struct stream *stream, const struct series *series,
                      struct buffer *blob, struct buffer *rows) {
    int r = 0;
    for (size_t i = 0; !r && i < series->n_joined; i++) {
        put_row(rows, series, i, rows->size == 0);
        if (blob->size + rows->size < JOINED_BLOB_BYTES)
            continue;
        put_section(blob, series, rows);
        r = insert_blob(store, stream, blob);
    }
    if (!r && rows->size)
        put_section(blob, series, rows);
    return r;
}

int joined_save(struct store *store, struct stream *stream) {
    struct buffer blob = {0}, rows = {0};
    int r = 0;
    for (size_t t = 0; !r && t < store->n_tables; t++) {
        struct series *series = stream->series[t];
        if (!series || !series->n_joined)
            continue;
        r = put_series(store, stream, series, &blob, &rows);
        joined_clear(series);
    }
    if (!r) /* rows without memory must not leave a size */
        r = rows.error ? rows.error : blob.error;
    if (!r && blob.size)
        r = insert_blob(store, stream, &blob);
    buffer_release(&blob);
    buffer_release(&rows);
    return r;
}

/* ---- reading: the file may be a stranger's ---- */

static int64_t add_wrapping(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

struct cursor joined_open(const void *data, size_t size) {
    const uint8_t *bytes = data;
    bool good = size && bytes[0] == JOINED_FORM;
    return (struct cursor){
        .p = good ? bytes + 1 : bytes, .end = good ? bytes + size : bytes, .bad = !good};
}

bool joined_next_section(struct cursor *r, struct joined_section *ret_section) {
    if (r->bad || r->p == r->end)
        return false;
    int64_t table = (int64_t)cursor_varint(r);
    uint64_t n_columns = cursor_varint(r), size = cursor_varint(r);
    if (r->bad || n_columns > STORE_COLUMNS_MAX || size > (uint64_t)(r->end - r->p)) {
        r->bad = true;
        return false;
    }
    *ret_section = (struct joined_section){
        .table = table, .n_columns = (size_t)n_columns, .rows = {.p = r->p, .end = r->p + size}};
    r->p += size;
    return true;
}

bool joined_next_row(struct joined_section *section, int64_t values[STORE_COLUMNS_MAX]) {
    struct cursor *r = &section->rows;
    if (r->bad || r->p == r->end)
        return false;
    section->instance = add_wrapping(section->instance, cursor_zigzag(r));
    section->t_ns = add_wrapping(section->t_ns, cursor_zigzag(r));
    section->interval_ns = value_of_code(cursor_varint(r));
    for (size_t c = 0; c < section->n_columns; c++)
        values[c] = value_of_code(cursor_varint(r));
    return !r->bad;
}
