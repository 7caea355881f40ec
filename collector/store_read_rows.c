/* SPDX-License-Identifier: MIT */
/*
 * Reads rows. The file has them in the order of frames, and most callers want them by instance: one
 * host at a time is read in the file's order and sorted into its instances, without an index.
 * Callers that want the file's order get each row at once, and nothing is kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_read_tables.h"
#include "collector/store_rows.h"
#include "common/error.h"

#define READ_ROWS_MAX (64u << 20) /* of one host and table */

/* The rows of one host, `width` numbers each: instance slot, t, interval, number of the stream,
 * values. */
struct rows_read {
    int64_t *cells; /* owned */
    size_t n, capacity, width;
};

#define AT_T 1
#define AT_INTERVAL 2
#define AT_CLOCK 3
#define AT_VALUES 4

struct reading {
    struct store *store;
    int64_t run;
    struct rows_table table;         /* owned */
    sqlite3_stmt *streams;           /* owned */
    sqlite3_stmt *joined;            /* owned; NULL: not wanted, or the file has no joined rows */
    int ordinals[READ_COLUMNS_MAX];  /* of the requested columns in joined rows; -1: none */
    struct rows_blocks blocks;       /* owned */
    struct instances_read instances; /* owned: of the current host */
    bool as_stored;                  /* each row is passed on as it is read; data holds one row */
    int64_t host;                    /* the current host */
    struct store_clock_map *clocks;  /* owned: of its streams so far */
    size_t n_clocks;
    struct rows_read data;
    int (*each)(void *ctx, const struct store_row_read *row);
    void *ctx;
};

/* ---- rows of one host ---- */

static int64_t *next_row(struct rows_read *data) {
    if (data->n == data->capacity) {
        size_t capacity = data->capacity ? 2 * data->capacity : 1024;
        int64_t *cells = capacity > READ_ROWS_MAX
                             ? NULL
                             : realloc(data->cells, capacity * data->width * sizeof *cells);
        if (!cells)
            return NULL;
        data->cells = cells;
        data->capacity = capacity;
    }
    return data->cells + data->n * data->width;
}

static void fill_joined(const struct reading *reading, const struct joined_section *section,
                        const int64_t *values, int64_t *cells) {
    cells[AT_INTERVAL] = section->interval_ns > 0 ? section->interval_ns : VALUE_ABSENT;
    for (size_t i = 0; i < reading->table.n_columns; i++) {
        int ordinal = reading->ordinals[i];
        cells[AT_VALUES + i] =
            ordinal < 0 || (size_t)ordinal >= section->n_columns ? VALUE_ABSENT : values[ordinal];
    }
}

static int emit(const struct reading *reading, const int64_t *cells) {
    const struct instance_read *item = &reading->instances.items[cells[0]];
    struct store_row_read row = {.host = reading->host,
                                 .instance = item->id,
                                 .instance_name = item->name,
                                 .t_ns = cells[AT_T],
                                 .interval_ns = cells[AT_INTERVAL],
                                 .clock = &reading->clocks[cells[AT_CLOCK]],
                                 .values = cells + AT_VALUES};
    int r = reading->each(reading->ctx, &row);
    return r < 0 ? r : 0;
}

/* Adds a row of the current stream, without interval and values: 1. If its time does not follow the
 * previous row, it is left out: 0. Later code may rely on the order. */
static int begin_row(struct reading *reading, int64_t instance, int64_t mono_ns, size_t *guess,
                     int64_t **ret_cells) {
    int64_t t = clock_map_time(&reading->clocks[reading->n_clocks - 1], mono_ns);
    const struct instances_read *all = &reading->instances;
    struct instance_read *item = instances_find(all, 0, all->n, instance, *guess);
    if (!item || t == VALUE_ABSENT || t < item->last_t_ns ||
        (t == item->last_t_ns && !reading->table.events))
        return 0;
    int64_t *cells = next_row(&reading->data); /* always the same row if as_stored */
    if (!cells)
        return -ENOMEM;
    cells[0] = item - all->items;
    cells[AT_T] = t;
    cells[AT_CLOCK] = (int64_t)reading->n_clocks - 1;
    *guess = (size_t)cells[0] + 1 < all->n ? (size_t)cells[0] + 1 : 0;
    item->last_t_ns = t;
    *ret_cells = cells;
    return 1;
}

static int end_row(struct reading *reading, const int64_t *cells) {
    if (reading->as_stored)
        return emit(reading, cells);
    reading->instances.items[cells[0]].n++;
    reading->data.n++;
    return 0;
}

static int take_row(struct reading *reading, size_t *guess) {
    sqlite3_stmt *row = reading->table.rows;
    int64_t *cells;
    int r = begin_row(reading, sqlite3_column_int64(row, 0), sql_column(row, 1), guess, &cells);
    if (r <= 0)
        return r;
    rows_table_fill(&reading->table, &cells[AT_INTERVAL], cells + AT_VALUES);
    return end_row(reading, cells);
}

static int take_section(struct reading *reading, struct joined_section *section) {
    int64_t values[STORE_COLUMNS_MAX], *cells;
    size_t guess = 0;
    int r = 0;
    while (r >= 0 && joined_next_row(section, values)) {
        r = begin_row(reading, section->instance, section->t_ns, &guess, &cells);
        if (r <= 0)
            continue;
        fill_joined(reading, section, values, cells);
        r = end_row(reading, cells);
    }
    return r < 0 ? r : section->rows.bad ? -EBADMSG : 0;
}

static int take_block(struct reading *reading) {
    struct rows_blocks *blocks = &reading->blocks;
    const int64_t *values[READ_COLUMNS_MAX];
    size_t guess = 0;
    int r = 0, n = rows_blocks_read(blocks);
    for (size_t c = 0; c < reading->table.n_columns; c++)
        values[c] = rows_blocks_column(blocks, ROWS_VALUES + c);
    for (int i = 0; i < n && r >= 0; i++) {
        int64_t *cells;
        r = begin_row(reading, rows_blocks_column(blocks, ROWS_INSTANCE)[i],
                      rows_blocks_column(blocks, ROWS_TIME)[i], &guess, &cells);
        if (r <= 0)
            continue;
        cells[AT_INTERVAL] =
            reading->table.events ? VALUE_ABSENT : rows_blocks_column(blocks, ROWS_INTERVAL)[i];
        for (size_t c = 0; c < reading->table.n_columns; c++)
            cells[AT_VALUES + c] = values[c][i];
        r = end_row(reading, cells);
    }
    return n < 0 ? n : r < 0 ? r : rows_blocks_next(blocks);
}

/* The rows of the table in one packed value. */
static int take_joined(struct reading *reading) {
    const void *data = sqlite3_column_blob(reading->joined, 0);
    struct cursor bytes =
        joined_open(data, data ? (size_t)sqlite3_column_bytes(reading->joined, 0) : 0);
    struct joined_section section;
    int r = 0;
    while (!r && joined_next_section(&bytes, &section))
        if (section.table == reading->table.id)
            r = take_section(reading, &section);
    return r ? r : bytes.bad ? -EBADMSG : 0;
}

static void forget_clocks(struct reading *reading) {
    for (size_t i = 0; i < reading->n_clocks; i++)
        clock_map_release(&reading->clocks[i]);
    free(reading->clocks);
    reading->clocks = NULL;
    reading->n_clocks = 0;
}

static int load_clock(struct reading *reading, int64_t stream) {
    size_t n = reading->n_clocks;
    struct store_clock_map *clocks = realloc(reading->clocks, (n + 1) * sizeof *clocks);
    if (!clocks)
        return -ENOMEM;
    reading->clocks = clocks;
    reading->n_clocks++;
    return clock_map_load(reading->store, stream, &clocks[n]);
}

/* 1: the stream has joined rows; 0: an older version recorded it without. */
static int load_joined(struct reading *reading, int64_t stream) {
    bool found = false;
    int code = SQLITE_DONE, r = reading->joined ? sql_bind(reading->joined, "i", stream) : 0;
    while (!r && reading->joined && (code = sqlite3_step(reading->joined)) == SQLITE_ROW) {
        found = true;
        r = take_joined(reading);
    }
    sqlite3_reset(reading->joined);
    return r ? r : code != SQLITE_DONE ? sql_errno(code) : found;
}

/* Rows and blocks in the order of their frames. */
static int load_plain(struct reading *reading, int64_t stream) {
    struct rows_blocks *blocks = &reading->blocks;
    sqlite3_stmt *rows = reading->table.rows;
    size_t guess = 0;
    int code = SQLITE_DONE, r = rows_blocks_begin(blocks, stream);
    if (!r)
        r = sql_bind(rows, "ii", reading->run, stream);
    while (!r && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        while (!r && blocks->left && blocks->from_frame <= sqlite3_column_int64(rows, 2))
            r = take_block(reading);
        if (!r)
            r = take_row(reading, &guess);
    }
    sqlite3_reset(rows);
    r = r ? r : sql_errno(code);
    while (!r && blocks->left)
        r = take_block(reading);
    return r;
}

static int load_stream(struct reading *reading, int64_t stream) {
    int r = load_clock(reading, stream);
    if (!r)
        r = load_joined(reading, stream);
    return r ? (r < 0 ? r : 0) : load_plain(reading, stream);
}

/* A host has several streams if it, or its agent, restarted during the run. */
static int load_rows(struct reading *reading, int64_t host) {
    int code = SQLITE_DONE, r = sql_bind(reading->streams, "i", host);
    reading->data.n = 0;
    forget_clocks(reading);
    while (!r && (code = sqlite3_step(reading->streams)) == SQLITE_ROW)
        r = load_stream(reading, sqlite3_column_int64(reading->streams, 0));
    sqlite3_reset(reading->streams);
    return r ? r : sql_errno(code);
}

/* Row numbers, grouped by instance, in the order of time within each. */
static int emit_by_instance(struct reading *reading) {
    const struct rows_read *data = &reading->data;
    struct instance_read *items = reading->instances.items;
    size_t *order = malloc((data->n + 1) * sizeof *order);
    size_t start = 0;
    int r = 0;
    if (!order)
        return -ENOMEM;
    for (size_t i = 0; i < reading->instances.n; i++) {
        items[i].next = start;
        start += items[i].n;
    }
    for (size_t i = 0; i < data->n; i++)
        order[items[data->cells[i * data->width]].next++] = i;
    for (size_t i = 0; !r && i < data->n; i++)
        r = emit(reading, data->cells + order[i] * data->width);
    free(order);
    return r;
}

static int read_host(struct reading *reading, int64_t host, bool *found) {
    instances_clear(&reading->instances);
    int r = instances_load(&reading->table, host, &reading->instances);
    if (r || !reading->instances.n)
        return r;
    *found = true;
    reading->host = host;
    r = load_rows(reading, host);
    return r || reading->as_stored ? r : emit_by_instance(reading);
}

static int read_hosts(struct reading *reading, bool *found) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int code = SQLITE_DONE,
        r = sql_prepare(reading->store, "SELECT host FROM host WHERE run = ? ORDER BY host",
                        &statement);
    if (!r)
        r = sql_bind(statement, "i", reading->run);
    while (!r && (code = sqlite3_step(statement)) == SQLITE_ROW)
        r = read_host(reading, sqlite3_column_int64(statement, 0), found);
    return r ? r : sql_errno(code);
}

/* ---- the table ---- */

static int open_table(struct reading *reading, const char *name, const char *const *columns,
                      size_t n_columns) {
    int r = rows_table_open(reading->store, name, columns, n_columns, &reading->table);
    if (!r)
        r = sql_prepare(reading->store, "SELECT stream FROM stream WHERE host = ? ORDER BY stream",
                        &reading->streams);
    if (!r)
        r = rows_table_prepare_by_stream(&reading->table);
    return r ? r : rows_blocks_open(&reading->table, &reading->blocks);
}

static void reading_release(struct reading *reading) {
    instances_release(&reading->instances);
    forget_clocks(reading);
    free(reading->data.cells);
    rows_table_release(&reading->table);
    rows_blocks_release(&reading->blocks);
    sqlite3_finalize(reading->streams);
    sqlite3_finalize(reading->joined);
}

static int open_joined(struct reading *reading) {
    bool has = false;
    int r = sql_has_table(reading->store, "joined", &has);
    if (r || !has || reading->table.events)
        return r;
    r = rows_table_ordinals(&reading->table, reading->ordinals);
    return r ? r
             : sql_prepare(reading->store,
                           "SELECT rows FROM joined WHERE stream = ? ORDER BY joined",
                           &reading->joined);
}

/* The order and form of the rows: by instance, plain or joined; or plain in the file's order. */
enum rows_form { ROWS_ORDERED, ROWS_JOINED, ROWS_AS_STORED };

static int read_table(enum rows_form form, struct store *store, int64_t run, const char *table,
                      const char *const *columns, size_t n_columns,
                      int (*each)(void *ctx, const struct store_row_read *row), void *ctx) {
    struct reading reading = {.store = store,
                              .run = run,
                              .as_stored = form == ROWS_AS_STORED,
                              .data = {.width = AT_VALUES + n_columns},
                              .each = each,
                              .ctx = ctx};
    bool found = false;
    int r = open_table(&reading, table, columns, n_columns);
    if (!r && form == ROWS_JOINED)
        r = open_joined(&reading);
    if (!r)
        r = read_hosts(&reading, &found);
    reading_release(&reading);
    return r ? r : found ? 0 : -ENOENT;
}

int store_each_row(struct store *store, int64_t run, const char *table, const char *const *columns,
                   size_t n_columns, int (*each)(void *ctx, const struct store_row_read *row),
                   void *ctx) {
    return read_table(ROWS_ORDERED, store, run, table, columns, n_columns, each, ctx);
}

int store_each_row_joined(struct store *store, int64_t run, const char *table,
                          const char *const *columns, size_t n_columns,
                          int (*each)(void *ctx, const struct store_row_read *row), void *ctx) {
    return read_table(ROWS_JOINED, store, run, table, columns, n_columns, each, ctx);
}

int store_each_row_as_stored(struct store *store, int64_t run, const char *table,
                             const char *const *columns, size_t n_columns,
                             int (*each)(void *ctx, const struct store_row_read *row), void *ctx) {
    return read_table(ROWS_AS_STORED, store, run, table, columns, n_columns, each, ctx);
}
