/* SPDX-License-Identifier: MIT */
#include "collector/store_tail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_rows.h"
#include "common/clock.h"
#include "common/error.h"
#include "tables/former_names.h"

#define TAIL_HOSTS_MAX 65536
#define TAIL_STREAMS_MAX (1u << 18)
#define NAME_MAX_BYTES 256

/* A stream that was seen. */
struct tail_stream {
    int64_t id, last_seq, read; /* the last packed value, or frame, that was read */
    size_t host;
    bool plain; /* its rows are not joined, since they come once a second or less often */
};

/* Positions of a wanted table's columns in joined rows, and its plain rows. */
struct tail_table {
    int64_t id; /* 0: the table does not exist yet */
    int ordinals[READ_COLUMNS_MAX];
    struct rows_table rows; /* owned once it is open */
    bool open;
};

struct store_tail {
    struct store *store; /* borrowed, as are the tables */
    int64_t run;
    const struct store_tail_table *wanted;
    struct tail_table *tables;
    size_t n_tables;
    struct tail_stream *streams; /* by id */
    size_t n_streams, streams_capacity;
    struct store_tail_host *hosts;
    size_t n_hosts, hosts_capacity;
    sqlite3_stmt *list, *last_frames;
    sqlite3_stmt *rows, *first; /* NULL where the file has no joined rows */
    int (*each)(void *ctx, size_t table, const struct store_row_read *row);
    void *ctx;
    int64_t values[STORE_COLUMNS_MAX], wanted_values[READ_COLUMNS_MAX];
};

/* ---- tables ---- */

static int find_column(sqlite3_stmt *statement, const char *table, const char *name,
                       struct tail_table *found, int *ret_ordinal) {
    int r = sql_bind(statement, "tt", table, name);
    int code = r ? SQLITE_DONE : sqlite3_step(statement);
    int64_t ordinal = code == SQLITE_ROW ? sql_column(statement, 1) : VALUE_ABSENT;
    *ret_ordinal = ordinal >= 0 && ordinal < STORE_COLUMNS_MAX ? (int)ordinal : -1;
    if (code == SQLITE_ROW)
        found->id = sqlite3_column_int64(statement, 0);
    r = r ? r : sql_errno(code);
    sqlite3_reset(statement);
    return r;
}

/* Fills in the table's id and the ordinals of its columns; 0 and -1 if they are missing. */
static int find_wanted(struct store_tail *tail, size_t t) {
    const struct store_tail_table *wanted = &tail->wanted[t];
    struct tail_table *table = &tail->tables[t];
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int r = sql_prepare(tail->store,
                        "SELECT t.table_id, c.ordinal FROM table_info t JOIN column_info c"
                        " USING(table_id) WHERE t.name = ? AND c.name = ?",
                        &statement);
    for (size_t c = 0; !r && c < wanted->n_columns; c++) {
        const char *name = wanted->columns[c];
        table->ordinals[c] = -1;
        for (size_t n = 0; !r && name && table->ordinals[c] < 0; n++) {
            r = find_column(statement, wanted->name, name, table, &table->ordinals[c]);
            name = former_name(wanted->name, wanted->columns[c], n);
        }
    }
    return r;
}

/* Tables are created with their first row. */
static int find_all_wanted(struct store_tail *tail) {
    int r = 0;
    for (size_t t = 0; !r && t < tail->n_tables; t++)
        if (!tail->tables[t].id)
            r = find_wanted(tail, t);
    return r;
}

/* ---- life ---- */

static int prepare_tail(struct store_tail *tail) {
    bool has = false;
    int r = sql_prepare(
        tail->store,
        "SELECT s.stream, s.last_seq, s.last_mono_ns, s.frames, h.host, h.name, s.boot_id,"
        " s.period_ns FROM host h JOIN stream s USING(host) WHERE h.run = ?"
        " AND s.period_ns <> 0 ORDER BY s.stream",
        &tail->list);
    if (!r)
        r = sql_prepare(tail->store,
                        "SELECT frame FROM frame WHERE stream = ? AND frame > ? ORDER BY frame DESC"
                        " LIMIT 1 OFFSET ?",
                        &tail->last_frames);
    if (!r)
        r = sql_has_table(tail->store, "joined", &has);
    if (r || !has)
        return r;
    r = sql_prepare(tail->store,
                    "SELECT joined FROM joined WHERE stream = ? ORDER BY joined DESC LIMIT 1"
                    " OFFSET ?",
                    &tail->first);
    return r ? r
             : sql_prepare(tail->store,
                           "SELECT joined, rows FROM joined WHERE stream = ? AND joined > ?"
                           " ORDER BY joined",
                           &tail->rows);
}

int store_tail_open(struct store *store, int64_t run, const struct store_tail_table *tables,
                    size_t n_tables, struct store_tail **ret_tail) {
    for (size_t t = 0; t < n_tables; t++)
        if (tables[t].n_columns > READ_COLUMNS_MAX)
            return -EINVAL;
    struct store_tail *tail = calloc(1, sizeof *tail);
    if (!tail)
        return -ENOMEM;
    *tail = (struct store_tail){.store = store, .run = run, .wanted = tables, .n_tables = n_tables};
    tail->tables = calloc(n_tables + 1, sizeof *tail->tables);
    int r = tail->tables ? prepare_tail(tail) : -ENOMEM;
    if (r)
        store_tail_close(tail);
    else
        *ret_tail = tail;
    return r;
}

void store_tail_close(struct store_tail *tail) {
    if (!tail)
        return;
    sqlite3_finalize(tail->list);
    sqlite3_finalize(tail->last_frames);
    sqlite3_finalize(tail->rows);
    sqlite3_finalize(tail->first);
    for (size_t i = 0; i < tail->n_hosts; i++)
        free(tail->hosts[i].name);
    free(tail->hosts);
    free(tail->streams);
    for (size_t t = 0; tail->tables && t < tail->n_tables; t++)
        if (tail->tables[t].open)
            rows_table_release(&tail->tables[t].rows);
    free(tail->tables);
    free(tail);
}

/* ---- hosts and streams ---- */

static int grow_list(void **items, size_t n, size_t *capacity, size_t item_size, size_t most) {
    size_t more = *capacity ? 2 * *capacity : 16;
    if (n < *capacity)
        return 0;
    void *grown = n >= most ? NULL : realloc(*items, more * item_size);
    if (!grown)
        return n >= most ? -E2BIG : -ENOMEM;
    *items = grown;
    *capacity = more;
    return 0;
}

/* The index of the statement's current host. */
static int place_host(struct store_tail *tail, size_t *ret_host) {
    int64_t id = sqlite3_column_int64(tail->list, 4);
    void *hosts = tail->hosts;
    size_t i = 0;
    while (i < tail->n_hosts && tail->hosts[i].id != id)
        i++;
    *ret_host = i;
    if (i < tail->n_hosts)
        return 0;
    int r = grow_list(&hosts, tail->n_hosts, &tail->hosts_capacity, sizeof *tail->hosts,
                      TAIL_HOSTS_MAX);
    tail->hosts = hosts;
    char *name = r ? NULL : sql_column_dup(tail->list, 5, NAME_MAX_BYTES);
    if (!name)
        return r ? r : -ENOMEM;
    tail->hosts[tail->n_hosts++] =
        (struct store_tail_host){.id = id, .name = name, .last_ns = VALUE_ABSENT};
    return 0;
}

/* The stream of the statement's current row. Rows are sorted: it is the stream at *at, or a new one
 * there. */
static int find_stream(struct store_tail *tail, size_t at, struct tail_stream **ret_stream) {
    int64_t id = sqlite3_column_int64(tail->list, 0);
    void *streams = tail->streams;
    size_t host;
    *ret_stream = at < tail->n_streams ? &tail->streams[at] : NULL;
    if (*ret_stream && (*ret_stream)->id == id)
        return 0;
    int r = place_host(tail, &host);
    if (!r)
        r = grow_list(&streams, tail->n_streams, &tail->streams_capacity, sizeof *tail->streams,
                      TAIL_STREAMS_MAX);
    tail->streams = streams;
    if (r)
        return r;
    memmove(tail->streams + at + 1, tail->streams + at,
            (tail->n_streams - at) * sizeof *tail->streams);
    tail->n_streams++;
    tail->streams[at] = (struct tail_stream){.id = id,
                                             .last_seq = -1,
                                             .read = -1,
                                             .host = host,
                                             .plain = sql_column(tail->list, 7) >= NS_PER_S};
    *ret_stream = &tail->streams[at];
    return 0;
}

/* ---- rows ---- */

static size_t wanted_table(const struct store_tail *tail, int64_t id) {
    size_t t = 0;
    while (t < tail->n_tables && (tail->tables[t].id != id || !id))
        t++;
    return t;
}

static int pass_row(struct store_tail *tail, const struct tail_stream *stream, size_t t,
                    const struct joined_section *section, const struct store_clock_map *clock) {
    const struct tail_table *table = &tail->tables[t];
    int64_t t_ns = clock_map_time(clock, section->t_ns);
    if (t_ns == VALUE_ABSENT)
        return 0;
    for (size_t c = 0; c < tail->wanted[t].n_columns; c++) {
        int ordinal = table->ordinals[c];
        tail->wanted_values[c] = ordinal < 0 || (size_t)ordinal >= section->n_columns
                                     ? VALUE_ABSENT
                                     : tail->values[ordinal];
    }
    struct store_row_read row = {.host = tail->hosts[stream->host].id,
                                 .instance = section->instance,
                                 .t_ns = t_ns,
                                 .interval_ns =
                                     section->interval_ns > 0 ? section->interval_ns : VALUE_ABSENT,
                                 .values = tail->wanted_values,
                                 .clock = clock};
    int r = tail->each(tail->ctx, t, &row);
    return r < 0 ? r : 0;
}

static int pass_packed(struct store_tail *tail, const struct tail_stream *stream,
                       const struct store_clock_map *clock) {
    const void *data = sqlite3_column_blob(tail->rows, 1);
    struct cursor bytes = joined_open(data, data ? (size_t)sqlite3_column_bytes(tail->rows, 1) : 0);
    struct joined_section section;
    int r = 0;
    while (!r && joined_next_section(&bytes, &section)) {
        size_t t = wanted_table(tail, section.table);
        while (!r && t < tail->n_tables && joined_next_row(&section, tail->values))
            r = pass_row(tail, stream, t, &section, clock);
        r = r ? r : section.rows.bad ? -EBADMSG : 0;
    }
    return r ? r : bytes.bad ? -EBADMSG : 0;
}

/* At the first poll: where to begin. */
static int find_first(struct store_tail *tail, struct tail_stream *stream) {
    int r = sql_bind(tail->first, "ii", stream->id, (int64_t)STORE_TAIL_FIRST);
    int code = r ? SQLITE_DONE : sqlite3_step(tail->first);
    if (!r && (code == SQLITE_ROW || code == SQLITE_DONE))
        stream->read = code == SQLITE_ROW ? sqlite3_column_int64(tail->first, 0) : 0;
    sqlite3_reset(tail->first);
    return r ? r : sql_errno(code);
}

static int take_values(struct store_tail *tail, struct tail_stream *stream,
                       const struct store_clock_map *clock) {
    int r = tail->rows && stream->read < 0 ? find_first(tail, stream) : 0;
    if (r || !tail->rows)
        return r;
    int code = SQLITE_DONE;
    r = sql_bind(tail->rows, "ii", stream->id, stream->read);
    while (!r && (code = sqlite3_step(tail->rows)) == SQLITE_ROW) {
        stream->read = sqlite3_column_int64(tail->rows, 0);
        r = pass_packed(tail, stream, clock);
    }
    sqlite3_reset(tail->rows);
    return r ? r : sql_errno(code);
}

/* ---- rows that are not joined ---- */

static int open_plain(struct store_tail *tail, size_t t) {
    const struct store_tail_table *wanted = &tail->wanted[t];
    struct rows_table *rows = &tail->tables[t].rows;
    int r = rows_table_open(tail->store, wanted->name, wanted->columns, wanted->n_columns, rows);
    if (!r) {
        sqlite3_str *sql = rows_table_select(rows, "f.mono_ns");
        sqlite3_str_appendf(sql,
                            " FROM frame f CROSS JOIN \"%w\" d ON d.frame = f.frame"
                            " WHERE f.stream = ? AND f.frame BETWEEN ? AND ? ORDER BY f.frame",
                            wanted->name);
        r = rows_table_prepare(rows, sql);
    }
    tail->tables[t].open = r == 0;
    if (r)
        rows_table_release(rows);
    return r == -ENOENT ? 0 : r; /* the table is made with its first row */
}

static int pass_plain_row(struct store_tail *tail, const struct tail_stream *stream, size_t t,
                          const struct store_clock_map *clock) {
    const struct rows_table *rows = &tail->tables[t].rows;
    struct store_row_read row = {.host = tail->hosts[stream->host].id,
                                 .instance = sqlite3_column_int64(rows->rows, 0),
                                 .t_ns = clock_map_time(clock, sql_column(rows->rows, 1)),
                                 .values = tail->wanted_values,
                                 .clock = clock};
    rows_table_fill(rows, &row.interval_ns, tail->wanted_values);
    int r = row.t_ns == VALUE_ABSENT ? 0 : tail->each(tail->ctx, t, &row);
    return r < 0 ? r : 0;
}

static int take_plain_table(struct store_tail *tail, const struct tail_stream *stream, size_t t,
                            int64_t after, const struct store_clock_map *clock) {
    int code = SQLITE_DONE, r = tail->tables[t].open ? 0 : open_plain(tail, t);
    if (r || !tail->tables[t].open)
        return r;
    sqlite3_stmt *rows = tail->tables[t].rows.rows;
    r = sql_bind(rows, "iii", stream->id, after + 1, stream->read);
    while (!r && (code = sqlite3_step(rows)) == SQLITE_ROW)
        r = pass_plain_row(tail, stream, t, clock);
    sqlite3_reset(rows);
    return r ? r : sql_errno(code);
}

/* The stream's frame that has n later ones behind `after`; -1: none. */
static int find_frame(struct store_tail *tail, int64_t stream, int64_t after, int64_t n,
                      int64_t *ret_frame) {
    int r = sql_bind(tail->last_frames, "iii", stream, after, n);
    int code = r ? SQLITE_DONE : sqlite3_step(tail->last_frames);
    *ret_frame = code == SQLITE_ROW ? sqlite3_column_int64(tail->last_frames, 0) : -1;
    r = r ? r : sql_errno(code);
    sqlite3_reset(tail->last_frames);
    return r;
}

static int take_plain(struct store_tail *tail, struct tail_stream *stream,
                      const struct store_clock_map *clock) {
    int64_t after = stream->read, newest;
    int r = after < 0 ? find_frame(tail, stream->id, -1, STORE_TAIL_FIRST, &after) : 0;
    if (!r)
        r = find_frame(tail, stream->id, after, 0, &newest);
    if (r || newest < 0 || newest == INT64_MAX)
        return r;
    stream->read = newest;
    for (size_t t = 0; !r && t < tail->n_tables; t++)
        r = take_plain_table(tail, stream, t, after, clock);
    return r;
}

/* Updates a stream that has new frames; each improves its clock. */
static int take_stream(struct store_tail *tail, struct tail_stream *stream, int64_t last_mono_ns,
                       uint64_t frames) {
    struct store_clock_map clock;
    struct store_tail_host *host = &tail->hosts[stream->host];
    int r = clock_map_load(tail->store, stream->id, &clock);
    if (!r) {
        host->last_ns = clock_map_time(&clock, last_mono_ns);
        host->frames = frames;
        r = stream->plain ? take_plain(tail, stream, &clock) : take_values(tail, stream, &clock);
    }
    clock_map_release(&clock);
    return r;
}

static int take_streams(struct store_tail *tail) {
    int code = SQLITE_DONE, r = sql_bind(tail->list, "i", tail->run);
    for (size_t at = 0; !r && (code = sqlite3_step(tail->list)) == SQLITE_ROW; at++) {
        struct tail_stream *stream;
        int64_t last_seq = sql_column(tail->list, 1), frames = sql_column(tail->list, 3);
        r = find_stream(tail, at, &stream);
        if (r || last_seq == stream->last_seq)
            continue;
        stream->last_seq = last_seq;
        sql_column_text(tail->list, 6, tail->hosts[stream->host].boot_id,
                        sizeof tail->hosts[stream->host].boot_id);
        r = take_stream(tail, stream, sql_column(tail->list, 2), frames < 0 ? 0 : (uint64_t)frames);
    }
    sqlite3_reset(tail->list);
    return r ? r : sql_errno(code);
}

/* One transaction: rows are never older than the frames they belong to. */
int store_tail_next(struct store_tail *tail,
                    int (*each)(void *ctx, size_t table, const struct store_row_read *row),
                    void *ctx) {
    tail->each = each;
    tail->ctx = ctx;
    int r = store_renew_bound(tail->store);
    if (!r)
        r = sql_exec(tail->store, "BEGIN");
    if (r)
        return r;
    r = find_all_wanted(tail);
    if (!r)
        r = take_streams(tail);
    if (!r)
        return sql_exec(tail->store, "COMMIT");
    sql_undo(tail->store, "ROLLBACK");
    return r;
}

size_t store_tail_hosts(const struct store_tail *tail, const struct store_tail_host **ret_hosts) {
    *ret_hosts = tail->hosts;
    return tail->n_hosts;
}

int store_tail_name(struct store_tail *tail, int64_t host, int64_t instance,
                    char name[INSTANCE_MAX + 1]) {
    int r = 0;
    sqlite3_stmt *statement = sql_statement(tail->store, SQL_INSTANCE_NAME, &r);
    if (!statement)
        return r;
    r = sql_bind(statement, "ii", instance, host);
    int code = r ? SQLITE_DONE : sqlite3_step(statement);
    char *text = code == SQLITE_ROW ? sql_column_dup(statement, 0, INSTANCE_MAX) : NULL;
    if (!r)
        r = text                  ? 0
            : code == SQLITE_ROW  ? -ENOMEM
            : code == SQLITE_DONE ? -ENOENT
                                  : sql_errno(code);
    if (text)
        memcpy(name, text, strnlen(text, INSTANCE_MAX) + 1);
    free(text);
    sqlite3_reset(statement);
    return r;
}
