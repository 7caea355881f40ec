/* SPDX-License-Identifier: MIT */
/*
 * Saves the state of a series, so that a restarted collector continues: one blob for a table and
 * commit. The transaction that holds the rows also holds the absolute values that their growth
 * ended at. A blob that cannot be decoded is ignored: the next rows are then first rows.
 *
 *     1, sample_ns, sample, n columns, n items, items of instance, samples and ns since last seen,
 * n values
 */
#include "collector/store_private.h"

#include <errno.h>
#include <string.h>

#define STATE_FORM 1

int state_save(struct store *store, const struct stream *stream, const struct series *series) {
    struct buffer blob = {0};
    buffer_put_u8(&blob, STATE_FORM);
    buffer_put_zigzag(&blob, series->sample_ns);
    buffer_put_varint(&blob, series->sample);
    buffer_put_varint(&blob, series->stride);
    buffer_put_varint(&blob, series->n);
    for (size_t i = 0; i < series->n; i++) {
        const struct base *base = &series->items[i];
        const int64_t *values = series_values(series, base);
        buffer_put_varint(&blob, (uint64_t)base->instance);
        buffer_put_varint(&blob, series->sample - base->seen_sample);
        buffer_put_zigzag(&blob, base->seen_ns);
        for (size_t c = 0; c < series->stride; c++) /* 0: absent */
            buffer_put_varint(&blob, values[c] < 0 ? 0 : (uint64_t)values[c] + 1);
    }
    int r = blob.error;
    sqlite3_stmt *statement = r ? NULL : sql_statement(store, SQL_STATE_SAVE, &r);
    if (statement) {
        sql_bind(statement, "ii", stream->id, series->table->id);
        sqlite3_bind_blob64(statement, 3, blob.data, blob.size, SQLITE_STATIC);
        r = sql_errno(sqlite3_step(statement));
        sqlite3_reset(statement);
        sqlite3_clear_bindings(statement);
    }
    buffer_release(&blob);
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

static int parse_blob(struct store *store, const struct stream *stream, struct series *series,
                      const struct buffer *blob) {
    struct cursor cursor = {blob->data + 1, blob->data + blob->size, false}, *c = &cursor;
    series->sample_ns = cursor_zigzag(c);
    series->sample = cursor_varint(c);
    uint64_t n_columns = cursor_varint(c), n = cursor_varint(c);
    if (blob->data[0] != STATE_FORM || c->bad || n_columns > series->stride ||
        n > STORE_INSTANCES_MAX)
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
        int64_t *values = series_values(series, base);
        for (uint64_t i = 0; i < n_columns; i++) {
            uint64_t value = cursor_varint(c);
            values[i] = value == 0 || value > INT64_MAX ? VALUE_ABSENT : (int64_t)value - 1;
        }
    }
    return !c->bad && c->p == c->end ? 0 : BAD_STATE;
}

/* Copied, since reading the names runs other statements. */
static int load_blob(struct store *store, const struct stream *stream, const struct series *series,
                     struct buffer *ret_blob) {
    int r = 0;
    sqlite3_stmt *statement = sql_statement(store, SQL_STATE_LOAD, &r);
    if (!statement)
        return r;
    sql_bind(statement, "ii", stream->id, series->table->id);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        const void *data = sqlite3_column_blob(statement, 0);
        buffer_put(ret_blob, data, data ? (size_t)sqlite3_column_bytes(statement, 0) : 0);
    }
    r = sql_reset(statement);
    return ret_blob->error ? ret_blob->error : r;
}

int state_load(struct store *store, const struct stream *stream, struct series *series) {
    struct buffer blob = {0};
    int r = load_blob(store, stream, series, &blob);
    if (!r && blob.size)
        r = parse_blob(store, stream, series, &blob);
    if (r == BAD_STATE) {
        series_clear(series);
        r = 0;
    }
    buffer_release(&blob);
    return r;
}
