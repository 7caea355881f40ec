/* SPDX-License-Identifier: MIT */
/*
 * Saves the state of a stream, so that a restarted collector continues: one blob a stream and
 * commit. The transaction that holds the rows also holds the absolute values that their growth
 * ended at. A table that cannot be decoded is ignored: the next rows are then first rows. Older
 * versions wrote one blob for each table, which the stream's replaces.
 *
 *     2, tables of: table id, bytes that follow, and those of a table:
 *     3, sample_ns, sample, n columns, n items, items of instance, samples since it was last seen,
 *     when that was, ns of it that are held back, if there are any its frame, n values
 *
 * Form 1 has nothing held back.
 */
#include "collector/store_private.h"

#include <errno.h>
#include <string.h>

#include "common/varint.h"

#define STATE_FORM 3
#define STATE_FORM_PLAIN 1
#define STATES_FORM 2
#define OF_STREAM INT64_C(0) /* in the place of the table's id */

static void put_state(struct buffer *blob, const struct series *series) {
    buffer_put_u8(blob, STATE_FORM);
    buffer_put_zigzag(blob, series->sample_ns);
    buffer_put_varint(blob, series->sample);
    buffer_put_varint(blob, series->stride);
    buffer_put_varint(blob, series->n);
    for (size_t i = 0; i < series->n; i++) {
        const struct base *base = &series->items[i];
        const int64_t *values = series_values(series, base);
        int64_t held_ns = base->idle ? base->seen_ns - base->stored_ns : 0;
        if (buffer_reserve(blob, (5 + series->stride) * VARINT_MAX) < 0)
            return;
        uint8_t *p = blob->data + blob->size;
        p = varint_write(p, (uint64_t)base->instance);
        p = varint_write(p, series->sample - base->seen_sample);
        p = varint_write(p, zigzag(base->seen_ns));
        p = varint_write(p, (uint64_t)held_ns);
        if (held_ns)
            p = varint_write(p, (uint64_t)base->frame);
        for (size_t c = 0; c < series->stride; c++) /* 0: absent */
            p = varint_write(p, values[c] < 0 ? 0 : (uint64_t)values[c] + 1);
        blob->size = (size_t)(p - blob->data);
    }
}

static void put_table_state(struct buffer *to, int64_t table, const void *data, size_t size) {
    buffer_put_varint(to, (uint64_t)table);
    buffer_put_varint(to, size);
    buffer_put(to, data, size);
}

/* The next table in the blob of a stream. */
static bool next_table_state(struct cursor *c, int64_t *ret_table, struct span *ret_state) {
    if (c->bad || c->p == c->end)
        return false;
    *ret_table = (int64_t)cursor_varint(c);
    uint64_t size = cursor_varint(c);
    c->bad = c->bad || size > (uint64_t)(c->end - c->p);
    if (c->bad)
        return false;
    *ret_state = (struct span){(const char *)c->p, (size_t)size};
    c->p += size;
    return true;
}

static struct cursor open_states(const struct buffer *states) {
    bool good = states->size && states->data[0] == STATES_FORM;
    return (struct cursor){
        .p = states->data + good, .end = states->data + (good ? states->size : 0), .bad = !good};
}

static bool is_loaded(const struct store *store, const struct stream *stream, int64_t table) {
    for (size_t t = 0; t < store->n_tables; t++)
        if (store->tables[t]->id == table)
            return stream->series[t];
    return false;
}

/* Tables that had no row since this collector began keep their state. Once all had one, nothing is
 * known of the stream but what its series say. */
static void keep_states(const struct store *store, struct stream *stream, struct buffer *to) {
    struct cursor c = open_states(&stream->states);
    struct span state;
    int64_t table;
    bool kept = false;
    while (next_table_state(&c, &table, &state)) {
        if (is_loaded(store, stream, table))
            continue;
        put_table_state(to, table, state.data, state.size);
        kept = true;
    }
    if (!kept)
        buffer_release(&stream->states);
}

static int insert_state(struct store *store, const struct stream *stream,
                        const struct buffer *blob) {
    int r = blob->error;
    sqlite3_stmt *statement = r ? NULL : sql_statement(store, SQL_STATE_SAVE, &r);
    if (!statement)
        return r;
    sql_bind(statement, "ii", stream->id, OF_STREAM);
    sqlite3_bind_blob64(statement, 3, blob->data, blob->size, SQLITE_STATIC);
    r = sql_errno(sqlite3_step(statement));
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return r;
}

int state_save(struct store *store, struct stream *stream) {
    struct buffer all = {0}, one = {0};
    buffer_put_u8(&all, STATES_FORM);
    keep_states(store, stream, &all);
    for (size_t t = 0; t < store->n_tables; t++) {
        const struct series *series = stream->series[t];
        if (!series || series->table->kind != TABLE_SAMPLES)
            continue;
        buffer_reset(&one);
        put_state(&one, series);
        if (one.error && !all.error)
            all.error = one.error;
        put_table_state(&all, series->table->id, one.data, one.size);
    }
    int r = insert_state(store, stream, &all);
    if (!r && stream->states_by_table)
        r = sql_run(store, SQL_STATE_FORGET, "ii", stream->id, OF_STREAM);
    stream->states_by_table = r != 0;
    buffer_release(&one);
    buffer_release(&all);
    return r;
}

#define BAD_STATE 1 /* an invalid blob: growth begins anew */

/* The instance's name, if it belongs to this host and is not in the series yet. */
static int restore_base(struct store *store, const struct stream *stream, struct series *series,
                        int64_t instance, struct base **ret_base) {
    char name[INSTANCE_MAX + 1] = "";
    int r = 0;
    sqlite3_stmt *statement = sql_statement(store, SQL_INSTANCE_NAME, &r);
    if (!statement)
        return r;
    sql_bind(statement, "ii", instance, stream->host);
    if (sqlite3_step(statement) == SQLITE_ROW)
        sql_column_text(statement, 0, name, sizeof name);
    r = sql_reset(statement);
    if (r)
        return r;
    size_t size = strlen(name);
    if (!size || series_find(series, name, size))
        return BAD_STATE;
    *ret_base = series_add(series, instance, name, size);
    return *ret_base ? 0 : -ENOMEM;
}

/* A stretch that was held back goes on; its row will have the frame that it was seen in last. */
static void parse_held(struct cursor *c, const struct shape *shape, struct base *base) {
    uint64_t held_ns = cursor_varint(c);
    if (!held_ns || c->bad)
        return;
    base->frame = (int64_t)cursor_varint(c);
    c->bad = c->bad || base->frame <= 0 || base->seen_ns < 0 || held_ns > (uint64_t)base->seen_ns;
    if (c->bad)
        return;
    base->stored_ns -= (int64_t)held_ns;
    base->idle = shape;
}

static int parse_blob(struct store *store, const struct stream *stream, const struct shape *shape,
                      struct series *series, struct span blob) {
    const uint8_t *data = (const uint8_t *)blob.data;
    if (!blob.size || (data[0] != STATE_FORM && data[0] != STATE_FORM_PLAIN))
        return BAD_STATE;
    struct cursor cursor = {data + 1, data + blob.size, false}, *c = &cursor;
    series->sample_ns = cursor_zigzag(c);
    series->sample = cursor_varint(c);
    uint64_t n_columns = cursor_varint(c), n = cursor_varint(c);
    if (c->bad || n_columns > series->stride || n > STORE_INSTANCES_MAX)
        return BAD_STATE;
    for (; n && !c->bad; n--) {
        int64_t instance = (int64_t)cursor_varint(c);
        uint64_t age = cursor_varint(c);
        struct base *base = NULL;
        int r = restore_base(store, stream, series, instance, &base);
        if (r || age > series->sample)
            return r ? r : BAD_STATE;
        base->seen_sample = series->sample - age;
        base->seen_ns = base->stored_ns = cursor_zigzag(c);
        if (data[0] == STATE_FORM)
            parse_held(c, shape, base);
        int64_t *values = series_values(series, base);
        for (uint64_t i = 0; i < n_columns; i++) {
            uint64_t value = cursor_varint(c);
            values[i] = value == 0 || value > INT64_MAX ? VALUE_ABSENT : (int64_t)value - 1;
        }
    }
    return !c->bad && c->p == c->end ? 0 : BAD_STATE;
}

/* Adds a row of the file to what is known of the stream. */
static void take_state(struct stream *stream, int64_t table, const void *data, size_t size) {
    const uint8_t *bytes = data;
    bool whole = table == OF_STREAM;
    if (whole && size && bytes[0] == STATES_FORM)
        buffer_put(&stream->states, bytes + 1, size - 1);
    else if (!whole)
        put_table_state(&stream->states, table, data, size);
    stream->states_by_table |= !whole;
}

/* Copied, since reading the names runs other statements. The stream's own row is the first: of two
 * states of a table it counts. */
int state_load_stream(struct store *store, struct stream *stream) {
    int code = SQLITE_DONE, r = 0;
    sqlite3_stmt *statement = sql_statement(store, SQL_STATE_LOAD, &r);
    if (!statement)
        return r;
    r = sql_bind(statement, "i", stream->id);
    buffer_reset(&stream->states);
    buffer_put_u8(&stream->states, STATES_FORM);
    while (!r && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const void *data = sqlite3_column_blob(statement, 1);
        take_state(stream, sqlite3_column_int64(statement, 0), data,
                   data ? (size_t)sqlite3_column_bytes(statement, 1) : 0);
    }
    int error = sql_reset(statement);
    r = r ? r : error ? error : sql_errno(code);
    return r ? r : stream->states.error;
}

int state_load(struct store *store, const struct stream *stream, const struct shape *shape,
               struct series *series) {
    struct cursor c = open_states(&stream->states);
    struct span state = {0};
    int64_t table = OF_STREAM;
    int r = 0;
    while (table != series->table->id && next_table_state(&c, &table, &state))
        ;
    if (table == series->table->id)
        r = parse_blob(store, stream, shape, series, state);
    if (r == BAD_STATE) {
        series_clear(series);
        r = 0;
    }
    return r;
}
