/* SPDX-License-Identifier: MIT */
#include "collector/store_follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_ask.h"
#include "collector/store_rows.h"
#include "common/clock.h"
#include "common/error.h"

#define CLOCKS_NS (10 * NS_PER_S) /* clocks are read again: they become more exact */

struct follow_stream {
    int64_t id, host;
    bool wanted; /* samples of the run */
    struct store_clock_map clock;
};

struct follow_frame {
    int64_t id, host, wall_ns; /* wall_ns VALUE_ABSENT: its rows are left out */
};

struct follow_table {
    const struct table *table;
    const char **columns; /* owned */
    bool open;
    struct rows_table rows;
};

struct store_follow {
    struct store *store;
    int64_t run, started_wall_ns, clocks_read_ns;
    struct follow_table *tables;
    struct follow_stream *streams; /* by id */
    struct follow_frame *frames;   /* of this call, by id */
    size_t n_tables, n_streams, n_frames, frames_capacity;
    sqlite3_stmt *next, *instance, *host, *state;
    int64_t values[READ_COLUMNS_MAX];
};

/* ---- streams and their clocks ---- */

static void forget_streams(struct store_follow *follow) {
    for (size_t i = 0; i < follow->n_streams; i++)
        clock_map_release(&follow->streams[i].clock);
    follow->n_streams = 0;
}

static int keep_stream(struct store_follow *follow, sqlite3_stmt *row) {
    size_t n = follow->n_streams;
    if ((n & (n - 1)) == 0) {
        struct follow_stream *grown =
            realloc(follow->streams, (n ? 2 * n : 1) * sizeof *follow->streams);
        if (!grown)
            return -ENOMEM;
        follow->streams = grown;
    }
    struct follow_stream *stream = &follow->streams[n];
    *stream = (struct follow_stream){.id = sqlite3_column_int64(row, 0),
                                     .host = sqlite3_column_int64(row, 1),
                                     .wanted = sqlite3_column_int64(row, 2) == follow->run &&
                                               sqlite3_column_int64(row, 3) != 0};
    follow->n_streams++;
    return stream->wanted ? clock_map_load(follow->store, stream->id, &stream->clock) : 0;
}

/* The run's start may move while hosts are gathered, and clocks count from it. */
static int read_start(struct store_follow *follow) {
    AUTO(sql_finalize) sqlite3_stmt *row = NULL;
    int r = sql_prepare(follow->store, "SELECT started_wall_ns FROM run WHERE run = ?", &row);
    if (!r)
        r = sql_bind(row, "i", follow->run);
    int code = r ? SQLITE_DONE : sqlite3_step(row);
    if (code == SQLITE_ROW)
        follow->started_wall_ns = sqlite3_column_int64(row, 0);
    return r ? r : code == SQLITE_DONE ? -ENOENT : sql_errno(code);
}

static int read_clocks(struct store_follow *follow) {
    AUTO(sql_finalize) sqlite3_stmt *row = NULL;
    forget_streams(follow);
    int code = SQLITE_DONE, r = read_start(follow);
    if (!r)
        r = sql_prepare(follow->store,
                        "SELECT s.stream, s.host, h.run, s.period_ns FROM stream s"
                        " JOIN host h USING(host) ORDER BY s.stream",
                        &row);
    while (!r && (code = sqlite3_step(row)) == SQLITE_ROW)
        r = keep_stream(follow, row);
    follow->clocks_read_ns = clock_monotonic_ns();
    return r ? r : sql_errno(code);
}

static int compare_followed(const void *key, const void *item) {
    int64_t id = *(const int64_t *)key, other = *(const int64_t *)item;
    return (id > other) - (id < other);
}

static const struct follow_stream *followed_stream(const struct store_follow *follow, int64_t id) {
    return follow->n_streams ? bsearch(&id, follow->streams, follow->n_streams,
                                       sizeof *follow->streams, compare_followed)
                             : NULL;
}

/* ---- frames ---- */

static int64_t wall_of(const struct store_follow *follow, const struct follow_stream *stream,
                       int64_t mono_ns) {
    int64_t wall_ns,
        t_ns = stream && stream->wanted ? clock_map_time(&stream->clock, mono_ns) : VALUE_ABSENT;
    if (t_ns == VALUE_ABSENT || __builtin_add_overflow(follow->started_wall_ns, t_ns, &wall_ns) ||
        wall_ns < 0)
        return VALUE_ABSENT;
    return wall_ns;
}

/* A stream that is not known yet is new: its host has just come. */
static int add_followed(struct store_follow *follow, sqlite3_stmt *row) {
    int64_t id = sqlite3_column_int64(row, 0), stream_id = sqlite3_column_int64(row, 1);
    const struct follow_stream *stream = followed_stream(follow, stream_id);
    if (!stream) {
        int r = read_clocks(follow);
        if (r)
            return r;
        stream = followed_stream(follow, stream_id);
    }
    if (follow->n_frames && follow->frames[follow->n_frames - 1].id >= id)
        return -EBADMSG;
    follow->frames[follow->n_frames++] =
        (struct follow_frame){.id = id,
                              .host = stream ? stream->host : 0,
                              .wall_ns = wall_of(follow, stream, sql_column(row, 2))};
    return 0;
}

static int read_frames(struct store_follow *follow, int64_t after, size_t n) {
    if (n > follow->frames_capacity) {
        struct follow_frame *grown = realloc(follow->frames, n * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        follow->frames = grown;
        follow->frames_capacity = n;
    }
    follow->n_frames = 0;
    sqlite3_reset(follow->next);
    int code = SQLITE_DONE, r = sql_bind(follow->next, "ii", after, (int64_t)n);
    while (!r && (code = sqlite3_step(follow->next)) == SQLITE_ROW)
        r = add_followed(follow, follow->next);
    sqlite3_reset(follow->next);
    return r ? r : sql_errno(code);
}

/* ---- rows ---- */

/* A table is made with its first row. */
static int open_followed(struct store_follow *follow, struct follow_table *to) {
    int r = rows_table_open(follow->store, to->table->name, to->columns, to->table->n_columns,
                            &to->rows);
    if (!r) {
        sqlite3_str *sql = rows_table_select(&to->rows, "d.frame");
        sqlite3_str_appendf(sql, " FROM \"%w\" d WHERE d.frame BETWEEN ? AND ? ORDER BY d.frame",
                            to->table->name);
        r = rows_table_prepare(&to->rows, sql);
    }
    to->open = r == 0;
    if (r)
        rows_table_release(&to->rows);
    return r == -ENOENT ? 0 : r;
}

struct following {
    struct store_follow *follow;
    int (*each)(void *ctx, const struct store_followed *row);
    void *ctx;
    size_t at; /* position among the frames */
};

static int give_followed(struct following *f, const struct follow_table *table, size_t t) {
    struct store_follow *follow = f->follow;
    int64_t id = sql_column(table->rows.rows, 1), interval_ns;
    while (f->at < follow->n_frames && follow->frames[f->at].id < id)
        f->at++;
    if (f->at == follow->n_frames)
        return 0;
    const struct follow_frame *frame = &follow->frames[f->at];
    if (frame->id != id || frame->wall_ns == VALUE_ABSENT)
        return 0;
    rows_table_fill(&table->rows, &interval_ns, follow->values);
    const struct store_followed row = {.table = t,
                                       .frame = id,
                                       .host = frame->host,
                                       .instance = sqlite3_column_int64(table->rows.rows, 0),
                                       .wall_ns = frame->wall_ns,
                                       .values = follow->values};
    int r = f->each(f->ctx, &row);
    return r < 0 ? r : 0;
}

static int read_followed(struct following *f, size_t t) {
    struct store_follow *follow = f->follow;
    struct follow_table *table = &follow->tables[t];
    int code = SQLITE_DONE, r = table->open ? 0 : open_followed(follow, table);
    if (r || !table->open)
        return r;
    f->at = 0;
    r = sql_bind(table->rows.rows, "ii", follow->frames[0].id,
                 follow->frames[follow->n_frames - 1].id);
    while (!r && (code = sqlite3_step(table->rows.rows)) == SQLITE_ROW)
        r = give_followed(f, table, t);
    sqlite3_reset(table->rows.rows);
    return r ? r : sql_errno(code);
}

int store_follow_next(struct store_follow *follow, int64_t after, size_t n_frames,
                      int (*each)(void *ctx, const struct store_followed *row), void *ctx,
                      int64_t *ret_until) {
    struct following f = {.follow = follow, .each = each, .ctx = ctx};
    int r = store_renew_bound(follow->store);
    if (!r && clock_monotonic_ns() - follow->clocks_read_ns > CLOCKS_NS)
        r = read_clocks(follow);
    if (!r)
        r = read_frames(follow, after, n_frames);
    for (size_t t = 0; !r && follow->n_frames && t < follow->n_tables; t++)
        r = read_followed(&f, t);
    if (!r)
        *ret_until = follow->n_frames ? follow->frames[follow->n_frames - 1].id : after;
    return r;
}

/* ---- names and state ---- */

static int read_name(sqlite3_stmt *statement, int64_t id, char name[INSTANCE_MAX + 1]) {
    sqlite3_reset(statement);
    int r = sql_bind(statement, "i", id);
    int code = r ? SQLITE_DONE : sqlite3_step(statement);
    if (code == SQLITE_ROW)
        sql_column_text(statement, 0, name, INSTANCE_MAX + 1);
    sqlite3_reset(statement);
    return r ? r : code == SQLITE_DONE ? -ENOENT : sql_errno(code);
}

int store_follow_instance(struct store_follow *follow, int64_t instance,
                          char name[INSTANCE_MAX + 1]) {
    return read_name(follow->instance, instance, name);
}

int store_follow_host(struct store_follow *follow, int64_t host, char name[INSTANCE_MAX + 1]) {
    return read_name(follow->host, host, name);
}

int store_follow_identity(struct store_follow *follow, int64_t *ret_identity) {
    AUTO(sql_finalize) sqlite3_stmt *row = NULL;
    int r = sql_prepare(follow->store,
                        "SELECT s.stream_id FROM stream s JOIN host h USING(host) WHERE h.run = ?"
                        " ORDER BY s.stream LIMIT 1",
                        &row);
    if (!r)
        r = sql_bind(row, "i", follow->run);
    int code = r ? SQLITE_DONE : sqlite3_step(row);
    *ret_identity = code == SQLITE_ROW ? sqlite3_column_int64(row, 0) : 0;
    return r ? r : sql_errno(code);
}

int store_follow_has_ended(struct store_follow *follow, bool *ret_ended) {
    char state[INSTANCE_MAX + 1] = "";
    int r = store_renew_bound(follow->store);
    if (!r)
        r = read_name(follow->state, follow->run, state);
    *ret_ended = strcmp(state, "running") != 0;
    return r;
}

/* ---- life ---- */

static int prepare_follow(struct store_follow *follow) {
    int r = sql_prepare(follow->store,
                        "SELECT frame, stream, mono_ns FROM frame WHERE frame > ? ORDER BY frame"
                        " LIMIT ?",
                        &follow->next);
    if (!r)
        r = sql_prepare(follow->store, "SELECT name FROM instance WHERE instance = ?",
                        &follow->instance);
    if (!r)
        r = sql_prepare(follow->store, "SELECT name FROM host WHERE host = ?", &follow->host);
    return r ? r
             : sql_prepare(follow->store, "SELECT state FROM run WHERE run = ?", &follow->state);
}

static int copy_tables(struct store_follow *follow, const struct table *const *tables, size_t n) {
    follow->tables = calloc(n + 1, sizeof *follow->tables);
    for (size_t t = 0; follow->tables && t < n; t++) {
        struct follow_table *to = &follow->tables[follow->n_tables++];
        to->table = tables[t];
        to->columns = calloc(tables[t]->n_columns + 1, sizeof *to->columns);
        for (size_t c = 0; to->columns && c < tables[t]->n_columns; c++)
            to->columns[c] = tables[t]->columns[c].name;
        if (!to->columns)
            return -ENOMEM;
    }
    return follow->tables ? 0 : -ENOMEM;
}

int store_follow_open(struct store *store, int64_t run, const struct table *const *tables, size_t n,
                      struct store_follow **ret_follow) {
    struct store_follow *follow = calloc(1, sizeof *follow);
    if (!follow)
        return -ENOMEM;
    follow->store = store;
    follow->run = run;
    int r = copy_tables(follow, tables, n);
    if (!r)
        r = prepare_follow(follow);
    if (!r)
        r = read_clocks(follow);
    if (r)
        store_follow_close(follow);
    else
        *ret_follow = follow;
    return r;
}

void store_follow_close(struct store_follow *follow) {
    if (!follow)
        return;
    for (size_t t = 0; t < follow->n_tables; t++) {
        if (follow->tables[t].open)
            rows_table_release(&follow->tables[t].rows);
        free(follow->tables[t].columns);
    }
    forget_streams(follow);
    sqlite3_finalize(follow->next);
    sqlite3_finalize(follow->instance);
    sqlite3_finalize(follow->host);
    sqlite3_finalize(follow->state);
    free(follow->streams);
    free(follow->frames);
    free(follow->tables);
    free(follow);
}
