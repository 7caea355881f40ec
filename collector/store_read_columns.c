/* SPDX-License-Identifier: MIT */
/*
 * Rows of events as columns: a block as it is unpacked, and rows of files of older versions
 * gathered into columns of the same form.
 */
#include "collector/store_read_columns.h"

#include <errno.h>
#include <stdlib.h>

#include "collector/store_rows.h"
#include "common/error.h"

#define GATHERED_ROWS 1024

struct columns_reading {
    struct store *store;
    int64_t run;
    struct rows_table table; /* owned, as all */
    struct rows_blocks blocks;
    struct instances_read instances; /* of the current host */
    const char **names;              /* of these, and a last one that is NULL */
    sqlite3_stmt *streams;
    struct store_clock_map clock; /* of the current stream */
    int64_t host;
    int64_t *gathered; /* columns of GATHERED_ROWS: instance, values */
    size_t n_gathered;
    uint32_t *places; /* of the rows that are given */
    size_t n_places;
    int (*each)(void *ctx, const struct store_columns_read *rows);
    void *ctx;
};

void store_columns_times(const struct store_columns_read *rows, const int64_t *mono_ns,
                         int64_t *ret_times) {
    for (size_t i = 0; i < rows->n; i++)
        ret_times[i] = clock_map_time(rows->clock, mono_ns[i]);
}

/* ---- rows that are given ---- */

/* Rows of one instance often follow each other, and few instances have most rows. */
static int place_instances(struct columns_reading *r, const int64_t *ids, size_t n) {
    struct {
        int64_t id;
        uint32_t place;
    } seen[64];
    const struct instances_read *all = &r->instances;
    if (n > r->n_places) {
        uint32_t *places = realloc(r->places, n * sizeof *places);
        if (!places)
            return -ENOMEM;
        r->places = places;
        r->n_places = n;
    }
    for (size_t i = 0; i < ARRAY_SIZE(seen); i++)
        seen[i].id = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        size_t slot = (uint64_t)ids[i] % ARRAY_SIZE(seen);
        if (seen[slot].id != ids[i] || ids[i] == INT64_MIN) {
            const struct instance_read *item = instances_find(all, 0, all->n, ids[i], 0);
            seen[slot].id = ids[i];
            seen[slot].place = (uint32_t)(item ? (size_t)(item - all->items) : all->n);
        }
        r->places[i] = seen[slot].place;
    }
    return 0;
}

/* cells: columns of `stride` values: instance, `before` others, the requested ones. */
static int give_rows(struct columns_reading *r, const int64_t *cells, size_t stride, size_t before,
                     size_t n) {
    const int64_t *values[READ_COLUMNS_MAX];
    for (size_t c = 0; c < r->table.n_columns; c++)
        values[c] = cells + (1 + before + c) * stride;
    int result = place_instances(r, cells, n);
    if (result)
        return result;
    struct store_columns_read rows = {.host = r->host,
                                      .n = n,
                                      .values = values,
                                      .instances = r->places,
                                      .names = r->names,
                                      .n_names = r->instances.n + 1,
                                      .clock = &r->clock};
    result = r->each(r->ctx, &rows);
    return result < 0 ? result : 0;
}

static int give_gathered(struct columns_reading *r) {
    size_t n = r->n_gathered;
    r->n_gathered = 0;
    return n ? give_rows(r, r->gathered, GATHERED_ROWS, 0, n) : 0;
}

static int gather_row(struct columns_reading *r) {
    size_t at = r->n_gathered++;
    int64_t interval_ns, values[READ_COLUMNS_MAX];
    r->gathered[at] = sqlite3_column_int64(r->table.rows, 0);
    rows_table_fill(&r->table, &interval_ns, values);
    for (size_t c = 0; c < r->table.n_columns; c++)
        r->gathered[(1 + c) * GATHERED_ROWS + at] = values[c];
    return r->n_gathered == GATHERED_ROWS ? give_gathered(r) : 0;
}

static int give_block(struct columns_reading *r) {
    struct rows_blocks *blocks = &r->blocks;
    int result = give_gathered(r), n = result ? 0 : rows_blocks_read(blocks);
    if (n < 0)
        return n;
    if (!result)
        result = give_rows(r, blocks->cells, blocks->capacity, ROWS_VALUES - 1, (size_t)n);
    return result ? result : rows_blocks_next(blocks);
}

/* ---- streams and hosts ---- */

static int read_stream(struct columns_reading *r, int64_t stream) {
    sqlite3_stmt *rows = r->table.rows;
    clock_map_release(&r->clock);
    int code = SQLITE_DONE, result = clock_map_load(r->store, stream, &r->clock);
    if (!result)
        result = rows_blocks_begin(&r->blocks, stream);
    if (!result)
        result = sql_bind(rows, "ii", r->run, stream);
    while (!result && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        while (!result && r->blocks.left && r->blocks.from_frame <= sqlite3_column_int64(rows, 2))
            result = give_block(r);
        if (!result)
            result = gather_row(r);
    }
    sqlite3_reset(rows);
    result = result ? result : sql_errno(code);
    while (!result && r->blocks.left)
        result = give_block(r);
    return result ? result : give_gathered(r);
}

static int name_instances(struct columns_reading *r, int64_t host) {
    instances_clear(&r->instances);
    int result = instances_load(&r->table, host, &r->instances);
    if (result)
        return result;
    const char **names = realloc(r->names, (r->instances.n + 1) * sizeof *names);
    if (!names)
        return -ENOMEM;
    r->names = names;
    for (size_t i = 0; i < r->instances.n; i++)
        names[i] = r->instances.items[i].name;
    names[r->instances.n] = NULL;
    return 0;
}

static int give_host(struct columns_reading *r, int64_t host, bool *found) {
    int code = SQLITE_DONE, result = name_instances(r, host);
    if (result || !r->instances.n)
        return result;
    *found = true;
    r->host = host;
    result = sql_bind(r->streams, "i", host);
    while (!result && (code = sqlite3_step(r->streams)) == SQLITE_ROW)
        result = read_stream(r, sqlite3_column_int64(r->streams, 0));
    sqlite3_reset(r->streams);
    return result ? result : sql_errno(code);
}

static int give_hosts(struct columns_reading *r, bool *found) {
    AUTO(sql_finalize) sqlite3_stmt *hosts = NULL;
    int code = SQLITE_DONE,
        result = sql_prepare(r->store, "SELECT host FROM host WHERE run = ? ORDER BY host", &hosts);
    if (!result)
        result = sql_bind(hosts, "i", r->run);
    while (!result && (code = sqlite3_step(hosts)) == SQLITE_ROW)
        result = give_host(r, sqlite3_column_int64(hosts, 0), found);
    return result ? result : sql_errno(code);
}

/* ---- the table ---- */

static int open_reading(struct columns_reading *r, const char *table, const char *const *columns,
                        size_t n_columns) {
    int result = rows_table_open(r->store, table, columns, n_columns, &r->table);
    if (!result && !r->table.events)
        result = -EINVAL;
    if (!result)
        result = sql_prepare(r->store, "SELECT stream FROM stream WHERE host = ? ORDER BY stream",
                             &r->streams);
    if (!result)
        result = rows_table_prepare_by_stream(&r->table);
    if (!result)
        result = rows_blocks_open(&r->table, &r->blocks);
    r->gathered = malloc((1 + n_columns) * GATHERED_ROWS * sizeof *r->gathered);
    return result ? result : r->gathered ? 0 : -ENOMEM;
}

static void release_reading(struct columns_reading *r) {
    rows_blocks_release(&r->blocks);
    rows_table_release(&r->table);
    instances_release(&r->instances);
    clock_map_release(&r->clock);
    sqlite3_finalize(r->streams);
    free(r->names);
    free(r->gathered);
    free(r->places);
}

int store_each_columns(struct store *store, int64_t run, const char *table,
                       const char *const *columns, size_t n_columns,
                       int (*each)(void *ctx, const struct store_columns_read *rows), void *ctx) {
    struct columns_reading reading = {.store = store, .run = run, .each = each, .ctx = ctx};
    bool found = false;
    int result = open_reading(&reading, table, columns, n_columns);
    if (!result)
        result = give_hosts(&reading, &found);
    release_reading(&reading);
    return result ? result : found ? 0 : -ENOENT;
}
