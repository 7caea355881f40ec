/* SPDX-License-Identifier: MIT */
/*
 * Streams: their host, their frames so far, and their clock. Counts are kept in memory and written
 * with each commit; the file can restore all state in memory.
 */
#include "collector/store_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

void stream_free(struct stream *stream) {
    for (size_t i = 0; i < STORE_TABLES_MAX; i++)
        series_free(stream->series[i]);
    buffer_release(&stream->states);
    free(stream);
}

void streams_free(struct store *store) {
    for (size_t i = 0; i < store->n_streams; i++)
        stream_free(store->streams[i]);
    free(store->streams);
    stream_index_clear(&store->index);
    store->streams = NULL;
    store->n_streams = 0;
    store->stream = NULL;
}

static int64_t column_or_zero(sqlite3_stmt *statement, int column) {
    int64_t value = sql_column(statement, column);
    return value == VALUE_ABSENT ? 0 : value;
}

/* The columns of SQL_STREAM_LOAD. */
static void stream_fill(struct stream *stream, sqlite3_stmt *row) {
    int64_t *const numbers[] = {&stream->head_missed, &stream->head_lost,  &stream->frames,
                                &stream->missed,      &stream->lost,       &stream->gaps,
                                &stream->restarts,    &stream->duplicates, &stream->dropped_rows,
                                &stream->wall_to_run};
    stream->host = column_or_zero(row, 0);
    stream->run = column_or_zero(row, 1);
    stream->stream_id = (uint64_t)sqlite3_column_int64(row, 2);
    stream->period_ns = column_or_zero(row, 3);
    stream->last_seq = column_or_zero(row, 4);
    stream->last_mono_ns = sql_column(row, 5);
    stream->first_mono_ns = sql_column(row, 6);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = column_or_zero(row, 7 + (int)i);
    sql_column_text(row, 17, stream->host_name, sizeof stream->host_name);
    sql_column_text(row, 18, stream->boot_id, sizeof stream->boot_id);
    stream->home = column_or_zero(row, 19);
}

static int stream_load(struct store *store, struct stream *stream) {
    int r = 0;
    sqlite3_stmt *statement = sql_statement(store, SQL_STREAM_LOAD, &r);
    if (!statement)
        return r;
    sql_bind(statement, "i", stream->id);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        stream_fill(stream, statement);
    r = sql_reset(statement);
    return code == SQLITE_DONE ? -ENOENT : r;
}

/* Either all rows of a stream are joined or none. A stream that an older version began stays
 * without, as its rows would be stored twice. No released version joins only some rows, so a stream
 * that has joined rows has them all. */
static int find_joined(struct store *store, struct stream *stream) {
    int64_t found;
    stream->joins = stream->last_seq == 0 && stream->period_ns < NS_PER_S;
    int r = stream->last_seq == 0 ? 0 : sql_get(store, SQL_JOINED_EXISTS, &found, "i", stream->id);
    stream->joins |= r > 0;
    return r < 0 ? r : 0;
}

static int stream_keep(struct store *store, struct stream *stream) {
    struct stream **streams =
        realloc(store->streams, (store->n_streams + 1) * sizeof *store->streams);
    if (!streams)
        return -ENOMEM;
    store->streams = streams;
    int r = stream_index_reserve(store);
    if (r)
        return r;
    streams[store->n_streams++] = stream;
    stream_index_add(store);
    return 0;
}

struct stream *stream_get(struct store *store, int64_t id, int *ret_error) {
    if (store->stream && store->stream->id == id)
        return store->stream;
    struct stream *stream;
    for (size_t at = 0;
         (stream = stream_index_next(store, store->index.by_row, (uint64_t)id, &at));)
        if (stream->id == id)
            return stream;
    stream = calloc(1, sizeof *stream);
    if (!stream) {
        *ret_error = -ENOMEM;
        return NULL;
    }
    stream->id = id;
    stream->clock_default_ns = VALUE_ABSENT;
    int r = stream_load(store, stream);
    if (!r)
        r = find_joined(store, stream);
    if (!r)
        r = state_load_stream(store, stream);
    if (!r)
        r = stream_keep(store, stream);
    if (r) {
        stream_free(stream);
        *ret_error = r;
        return NULL;
    }
    return stream;
}

static bool stream_is(const struct stream *stream, int64_t run, const struct wire_stream *wire) {
    return stream->stream_id == wire->stream_id && stream->run == run &&
           strcmp(stream->host_name, wire->host) == 0 &&
           strcmp(stream->boot_id, wire->boot_id) == 0;
}

static int host_find_or_insert(struct store *store, int64_t run, const char *name,
                               int64_t *ret_host) {
    int64_t run_found;
    int r = sql_get(store, SQL_HOST_FIND, ret_host, "it", run, name);
    if (r)
        return r < 0 ? r : 0;
    r = sql_get(store, SQL_RUN_EXISTS, &run_found, "i", run);
    if (r <= 0)
        return r ? r : -ENOENT;
    r = sql_run(store, SQL_HOST_INSERT, "it", run, name);
    if (!r)
        *ret_host = sqlite3_last_insert_rowid(store->db);
    return r;
}

static int check_room(struct store *store, int64_t host) {
    int64_t n = 0;
    int r = sql_get(store, SQL_STREAM_COUNT, &n, "i", host);
    return r < 0 ? r : n < STORE_STREAMS_MAX ? 0 : -EUSERS;
}

static int stream_find_or_insert(struct store *store, int64_t host, const struct wire_stream *wire,
                                 int64_t *ret_id) {
    /* The bits of the id as a signed number; INT64_MIN alone would be taken for NULL. */
    int64_t bits = (int64_t)wire->stream_id == VALUE_ABSENT ? 0 : (int64_t)wire->stream_id;
    int r = sql_get(store, SQL_STREAM_FIND, ret_id, "iti", host, wire->boot_id, bits);
    if (r)
        return r < 0 ? r : 0;
    r = check_room(store, host);
    if (!r)
        r = sql_run(store, SQL_STREAM_INSERT, "itii", host, wire->boot_id, bits, wire->period_ns);
    if (!r)
        *ret_id = sqlite3_last_insert_rowid(store->db);
    return r;
}

int store_stream(struct store *store, int64_t run, const struct wire_stream *wire,
                 int64_t *ret_host, int64_t *ret_stream) {
    int64_t host = 0, id = 0;
    int r = 0;
    struct stream *stream;
    for (size_t at = 0;
         (stream = stream_index_next(store, store->index.by_name, wire->stream_id, &at));) {
        if (stream_is(stream, run, wire)) {
            *ret_host = stream->host;
            *ret_stream = stream->id;
            return 0;
        }
    }
    r = host_find_or_insert(store, run, wire->host, &host);
    if (!r)
        r = stream_find_or_insert(store, host, wire, &id);
    if (r || !stream_get(store, id, &r))
        return r;
    *ret_host = host;
    *ret_stream = id;
    return 0;
}

uint64_t store_stream_last_seq(struct store *store, int64_t id) {
    int r = 0;
    const struct stream *stream = stream_get(store, id, &r);
    return stream ? (uint64_t)stream->last_seq : 0;
}

int stream_save(struct store *store, struct stream *stream) {
    int r =
        sql_run(store, SQL_STREAM_UPDATE, "iiiiiiiiiiiiii", stream->id, stream->last_seq,
                stream->last_mono_ns, stream->first_mono_ns, stream->head_missed, stream->head_lost,
                stream->frames, stream->missed, stream->lost, stream->gaps, stream->restarts,
                stream->duplicates, stream->dropped_rows, stream->clock_default_ns);
    bool samples = false;
    for (size_t i = 0; i < store->n_tables; i++) {
        struct series *series = stream->series[i];
        if (!series || !series->dirty)
            continue;
        series_prune(series);
        samples |= series->table->kind == TABLE_SAMPLES;
        series->dirty = false;
    }
    if (!r && samples)
        r = state_save(store, stream);
    stream->dirty = r != 0;
    return r;
}

int store_find_run_of_note(struct store *store, const char *text, int64_t *ret_run) {
    int r = sql_get(store, SQL_NOTE_RUN, ret_run, "t", text);
    return r < 0 ? r : r ? 0 : -ENOENT;
}

int store_find_run_of_stream(struct store *store, const struct wire_stream *stream,
                             int64_t *ret_run) {
    int r = sql_get(store, SQL_STREAM_RUN, ret_run, "tit", stream->boot_id,
                    (int64_t)stream->stream_id, stream->host);
    return r < 0 ? r : r ? 0 : -ENOENT;
}
