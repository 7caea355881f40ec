/* SPDX-License-Identifier: MIT */
/* Turns samples into blocks. Each block is unpacked and compared before its rows are removed. */
#include "collector/store_cold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_block_times.h"
#include "collector/store_mark.h"
#include "collector/store_private.h"
#include "common/error.h"

#define OWN 3 /* columns before the table's: instance, frame, interval */
#define COLUMNS_MAX (OWN + STORE_COLUMNS_MAX)

static const unsigned own_numbers[OWN] = {BLOCK_INSTANCE, BLOCK_FRAME, BLOCK_THIRD};
enum { INSTANCE, FRAME, INTERVAL };

static unsigned number_of_column(size_t column) {
    return column < OWN ? own_numbers[column] : BLOCK_OWN + (unsigned)(column - OWN);
}

/* A table while its rows become blocks. */
struct cooling {
    struct store *store;
    const struct data_table *table;
    size_t width;  /* columns */
    int64_t *rows; /* owned, as are the others: width columns of BLOCK_ROWS values, as rows come */
    int64_t *ends, *sorted_ends; /* of their frames */
    int64_t *sorted;             /* the same rows by instance */
    int64_t *again;              /* a column as it is unpacked */
    struct sort_key *order;
    size_t n;
    int64_t taken; /* rows of all streams so far */
    struct buffer blob;
    sqlite3_stmt *select, *remove; /* owned: rows of some frames of a stream */
};

struct sort_key {
    int64_t instance;
    size_t row;
};

static int compare_keys(const void *a, const void *b) {
    const struct sort_key *x = a, *y = b;
    return x->instance != y->instance ? (x->instance > y->instance) - (x->instance < y->instance)
                                      : (x->row > y->row) - (x->row < y->row);
}

/* Sorts n rows from `from` on. */
static void sort_rows(struct cooling *c, size_t from, size_t n) {
    for (size_t i = 0; i < n; i++)
        c->order[i] = (struct sort_key){c->rows[INSTANCE * BLOCK_ROWS + from + i], from + i};
    qsort(c->order, n, sizeof *c->order, compare_keys);
    for (size_t column = 0; column < c->width; column++)
        for (size_t i = 0; i < n; i++)
            c->sorted[column * BLOCK_ROWS + i] = c->rows[column * BLOCK_ROWS + c->order[i].row];
    for (size_t i = 0; i < n; i++)
        c->sorted_ends[i] = c->ends[c->order[i].row];
}

/* Own columns first, then the table's: BLOCK_THIRD is below BLOCK_OWN, so the numbers rise. */
static int pack_sorted(struct cooling *c, size_t n) {
    struct block_values columns[COLUMNS_MAX];
    int r = 0;
    struct block_work *work = blocks_work(c->store, &r);
    for (size_t i = 0; i < c->width; i++)
        columns[i] = (struct block_values){number_of_column(i), c->sorted + i * BLOCK_ROWS};
    buffer_reset(&c->blob);
    return work ? block_pack(work, columns, c->width, n, &c->blob) : r;
}

/* -ERANGE: other values come back than went in. */
static int compare_packed(struct cooling *c, size_t n) {
    struct block block;
    int r = block_open(c->blob.data, c->blob.size, &block);
    if (!r && block.n_rows != n)
        r = -EIO;
    for (size_t i = 0; !r && i < c->width; i++) {
        r = block_read(c->store->blocks, &block, number_of_column(i), c->again);
        if (!r && memcmp(c->again, c->sorted + i * BLOCK_ROWS, n * sizeof *c->again) != 0)
            r = -EIO;
    }
    return r ? -ERANGE : 0;
}

static int64_t extreme_of(const int64_t *values, size_t n, int sign) {
    int64_t found = values[0];
    for (size_t i = 1; i < n; i++)
        if (sign < 0 ? values[i] < found : values[i] > found)
            found = values[i];
    return found;
}

static int insert_cold(struct cooling *c, int64_t stream, size_t n) {
    const int64_t *frames = c->sorted + FRAME * BLOCK_ROWS;
    int r = 0;
    sqlite3_stmt *statement = sql_statement(c->store, SQL_BLOCK_INSERT, &r);
    if (!statement)
        return r;
    r = sql_bind(statement, "iiiiiii", stream, c->table->id, extreme_of(frames, n, -1),
                 extreme_of(frames, n, 1), extreme_of(c->sorted_ends, n, -1),
                 extreme_of(c->sorted_ends, n, 1), (int64_t)n);
    sqlite3_bind_blob64(statement, 8, c->blob.data, c->blob.size, SQLITE_STATIC);
    r = r ? r : sql_errno(sqlite3_step(statement));
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return r;
}

/* Rows that need more bytes than a blob may have become two blocks. */
static int save_rows(struct cooling *c, int64_t stream, size_t from, size_t n) {
    sort_rows(c, from, n);
    block_intervals_shorten(c->sorted + INSTANCE * BLOCK_ROWS, c->sorted_ends, n,
                            c->sorted + INTERVAL * BLOCK_ROWS);
    int r = pack_sorted(c, n);
    if (!r)
        r = compare_packed(c, n);
    if (!r)
        r = insert_cold(c, stream, n);
    if (r != -E2BIG)
        return r;
    r = save_rows(c, stream, from, n / 2);
    return r ? r : save_rows(c, stream, from + n / 2, n - n / 2);
}

static int save_all(struct cooling *c, int64_t stream) {
    int r = c->n ? save_rows(c, stream, 0, c->n) : 0;
    c->n = 0;
    return r;
}

/* -ERANGE: a value means that there is none. An interval of that size cannot be told from one that
 * is missing, once it is shortened; no host runs for 146 years. */
static int take_value(sqlite3_stmt *row, int column, int64_t *ret_value) {
    int type = sqlite3_column_type(row, column);
    *ret_value = type == SQLITE_INTEGER ? sqlite3_column_int64(row, column) : VALUE_ABSENT;
    bool known = *ret_value != VALUE_ABSENT;
    return known || type == SQLITE_NULL ? 0 : -ERANGE;
}

#define INTERVAL_MOST_NS (INT64_MAX / 2)

/* Columns of the statement: the frame's end, instance, frame, interval, the table's. */
static int take_cold_row(struct cooling *c, int64_t stream, sqlite3_stmt *row) {
    int r = take_value(row, 0, &c->ends[c->n]);
    for (size_t i = 0; !r && i < c->width; i++)
        r = take_value(row, 1 + (int)i, &c->rows[i * BLOCK_ROWS + c->n]);
    int64_t interval = c->rows[INTERVAL * BLOCK_ROWS + c->n];
    if (!r && interval != VALUE_ABSENT && (interval < 0 || interval > INTERVAL_MOST_NS))
        r = -ERANGE;
    if (!r && (c->ends[c->n] < 0 || c->ends[c->n] > INTERVAL_MOST_NS))
        r = -ERANGE;
    if (r)
        return r;
    c->taken++;
    return ++c->n == BLOCK_ROWS ? save_all(c, stream) : 0;
}

#define SOME_FRAMES "f.stream = ?1 AND f.frame > ?2 AND f.frame <= ?3"

static int prepare_rows_of(struct cooling *c) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "SELECT f.mono_ns, d.instance, d.frame, d.interval_ns");
    for (size_t i = 0; i < c->table->n_columns; i++)
        sqlite3_str_appendf(sql, ", d.\"%w\"", c->table->columns[i].name);
    sqlite3_str_appendf(sql,
                        " FROM frame f CROSS JOIN \"%w\" d ON d.frame = f.frame WHERE " SOME_FRAMES
                        " ORDER BY f.frame, d.instance",
                        c->table->name);
    int r = sql_prepare_made(c->store, sqlite3_str_finish(sql), &c->select);
    return r ? r
             : sql_prepare_made(c->store,
                                sqlite3_mprintf("DELETE FROM \"%w\" WHERE frame IN (SELECT f.frame"
                                                " FROM frame f WHERE " SOME_FRAMES ")",
                                                c->table->name),
                                &c->remove);
}

static int save_frames(struct cooling *c, int64_t stream, int64_t after, int64_t until) {
    int code = SQLITE_DONE, r = sql_bind(c->select, "iii", stream, after, until);
    while (!r && (code = sqlite3_step(c->select)) == SQLITE_ROW)
        r = take_cold_row(c, stream, c->select);
    int error = sql_reset(c->select);
    r = r ? r : error ? error : sql_errno(code);
    return r ? r : save_all(c, stream);
}

/* Rows of frames that no stream has are left: no reader finds them. -ERANGE: others go than were
 * taken. */
static int remove_frames(struct cooling *c, int64_t stream, int64_t after, int64_t until) {
    int r = sql_bind(c->remove, "iii", stream, after, until);
    r = r ? r : sql_errno(sqlite3_step(c->remove));
    sqlite3_reset(c->remove);
    return r ? r : sqlite3_changes64(c->store->db) == c->taken ? 0 : -ERANGE;
}

int cooling_frames(struct cooling *c, int64_t stream, int64_t after, int64_t until,
                   int64_t *ret_rows) {
    c->taken = 0;
    c->n = 0;
    int r = save_frames(c, stream, after, until);
    if (!r && c->taken)
        r = remove_frames(c, stream, after, until);
    *ret_rows = r ? 0 : c->taken;
    return r;
}

void cooling_free(struct cooling *c) {
    if (!c)
        return;
    sqlite3_finalize(c->select);
    sqlite3_finalize(c->remove);
    free(c->rows);
    free(c->sorted);
    free(c->ends);
    free(c->sorted_ends);
    free(c->again);
    free(c->order);
    buffer_release(&c->blob);
    free(c);
}

static int cooling_fill(struct cooling *c) {
    c->width = OWN + c->table->n_columns;
    c->rows = malloc(c->width * BLOCK_ROWS * sizeof *c->rows);
    c->sorted = malloc(c->width * BLOCK_ROWS * sizeof *c->sorted);
    c->ends = malloc(BLOCK_ROWS * sizeof *c->ends);
    c->sorted_ends = malloc(BLOCK_ROWS * sizeof *c->sorted_ends);
    c->again = malloc(BLOCK_ROWS * sizeof *c->again);
    c->order = malloc(BLOCK_ROWS * sizeof *c->order);
    bool all = c->rows && c->sorted && c->ends && c->sorted_ends && c->again && c->order;
    return all ? prepare_rows_of(c) : -ENOMEM;
}

int cooling_new(struct store *store, const char *table, struct cooling **ret_cooling) {
    struct data_table *found = NULL;
    int r = table_load(store, table, &found);
    struct cooling *c = r > 0 ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return r < 0 ? r : r ? -ENOMEM : -EBADMSG;
    c->store = store;
    c->table = found;
    r = cooling_fill(c);
    if (r)
        cooling_free(c);
    else
        *ret_cooling = c;
    return r;
}

/* All frames: of a hostile file, too, whose numbers may be below 1. */
static int cool_streams(struct cooling *c) {
    AUTO(sql_finalize) sqlite3_stmt *streams = NULL;
    int64_t n;
    int code = SQLITE_DONE,
        r = sql_prepare(c->store, "SELECT stream FROM stream ORDER BY stream", &streams);
    while (!r && (code = sqlite3_step(streams)) == SQLITE_ROW)
        r = cooling_frames(c, sqlite3_column_int64(streams, 0), -INT64_MAX, INT64_MAX, &n);
    return r ? r : sql_errno(code);
}

static int cool_table(struct store *store, const struct data_table *table) {
    struct cooling *c = NULL;
    int r = cooling_new(store, table->name, &c);
    if (!r)
        r = cool_streams(c);
    cooling_free(c);
    return r;
}

/* ---- blocks become rows again ---- */

struct warming {
    struct store *store;
    const struct data_table *table;
    sqlite3_stmt *insert;
    struct block_times times;
    int64_t *cells, *ends; /* columns of `capacity` values */
    struct block_place *order;
    size_t capacity;
};

static int warm_room(struct warming *w, size_t n) {
    if (n <= w->capacity)
        return 0;
    int64_t *cells = realloc(w->cells, n * (OWN + w->table->n_columns) * sizeof *cells);
    if (cells)
        w->cells = cells;
    int64_t *ends = realloc(w->ends, n * sizeof *ends);
    if (ends)
        w->ends = ends;
    struct block_place *order = realloc(w->order, n * sizeof *order);
    if (order)
        w->order = order;
    if (!cells || !ends || !order)
        return -ENOMEM;
    w->capacity = n;
    return 0;
}

static int warm_columns(struct warming *w, const struct block *block, int64_t stream) {
    int r = warm_room(w, block->n_rows);
    for (size_t c = 0; !r && c < OWN + w->table->n_columns; c++) {
        r = block_read(w->store->blocks, block, number_of_column(c), w->cells + c * w->capacity);
        r = r < 0 ? r : 0;
    }
    if (!r)
        r = sql_errno(block_times_load(&w->times, w->store->db, stream));
    if (r)
        return r;
    const int64_t *frames = w->cells + FRAME * w->capacity;
    block_times_of(&w->times, frames, block->n_rows, w->ends);
    block_intervals_restore(w->cells + INSTANCE * w->capacity, w->ends, block->n_rows,
                            w->cells + INTERVAL * w->capacity);
    block_order_by_frame(frames, block->n_rows, w->order);
    return 0;
}

static int warm_insert(struct warming *w, size_t row) {
    for (size_t c = 0; c < OWN + w->table->n_columns; c++) {
        int64_t value = w->cells[c * w->capacity + row];
        int at = 1 + (int)c;
        if (value == VALUE_ABSENT)
            sqlite3_bind_null(w->insert, at);
        else
            sqlite3_bind_int64(w->insert, at, value);
    }
    int code = sqlite3_step(w->insert);
    sqlite3_reset(w->insert);
    return (code & 0xff) == SQLITE_CONSTRAINT ? -EBADMSG : sql_errno(code);
}

/* Columns of the statement: stream, columns. */
static int warm_block(struct warming *w, sqlite3_stmt *row) {
    struct block block;
    const void *data = sqlite3_column_blob(row, 1);
    size_t size = data ? (size_t)sqlite3_column_bytes(row, 1) : 0;
    int r = 0;
    if (!blocks_work(w->store, &r))
        return r;
    r = block_open(data, size, &block);
    if (!r)
        r = warm_columns(w, &block, sqlite3_column_int64(row, 0));
    for (size_t i = 0; !r && i < block.n_rows; i++)
        r = warm_insert(w, w->order[i].row);
    return r;
}

static int prepare_insert(struct warming *w) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "INSERT INTO \"%w\"(instance, frame, interval_ns", w->table->name);
    for (size_t i = 0; i < w->table->n_columns; i++)
        sqlite3_str_appendf(sql, ", \"%w\"", w->table->columns[i].name);
    sqlite3_str_appendf(sql, ") VALUES(?, ?, ?");
    for (size_t i = 0; i < w->table->n_columns; i++)
        sqlite3_str_appendf(sql, ", ?");
    sqlite3_str_appendf(sql, ")");
    return sql_prepare_made(w->store, sqlite3_str_finish(sql), &w->insert);
}

static int warm_blocks(struct warming *w) {
    AUTO(sql_finalize) sqlite3_stmt *blocks = NULL;
    int code = SQLITE_DONE, r = prepare_insert(w);
    if (!r)
        r = sql_prepare(w->store,
                        "SELECT stream, columns FROM block WHERE table_id = ? ORDER BY block",
                        &blocks);
    if (!r)
        r = sql_bind(blocks, "i", w->table->id);
    while (!r && (code = sqlite3_step(blocks)) == SQLITE_ROW)
        r = warm_block(w, blocks);
    return r ? r : sql_errno(code);
}

static int warm_table(struct store *store, const struct data_table *table) {
    struct warming w = {.store = store, .table = table};
    int r = warm_blocks(&w);
    sqlite3_finalize(w.insert);
    block_times_release(&w.times);
    free(w.cells);
    free(w.ends);
    free(w.order);
    return r;
}

/* ---- all tables of samples ---- */

static int each_table(struct store *store,
                      int (*turn)(struct store *store, const struct data_table *table)) {
    AUTO(sql_finalize) sqlite3_stmt *names = NULL;
    struct data_table *table = NULL;
    char name[TABLE_NAME_MAX + 1];
    int code = SQLITE_DONE, r = sql_prepare(store,
                                            "SELECT name FROM table_info WHERE kind = 'samples'"
                                            " ORDER BY table_id",
                                            &names);
    while (!r && (code = sqlite3_step(names)) == SQLITE_ROW) {
        sql_column_text(names, 0, name, sizeof name);
        r = table_load(store, name, &table);
        r = r < 0 ? r : r ? turn(store, table) : -EBADMSG;
    }
    return r ? r : sql_errno(code);
}

int cold_pack(struct store *store) {
    int r = sql_exec(store, STORE_BLOCK_SCHEMA);
    return r ? r : each_table(store, cool_table);
}

int cold_unpack(struct store *store) {
    bool has = false;
    int r = sql_has_table(store, "block", &has);
    if (r || !has)
        return r;
    r = each_table(store, warm_table);
    if (!r)
        r = sql_exec(store, "DELETE FROM block WHERE table_id IN (SELECT table_id FROM table_info"
                            " WHERE kind = 'samples')");
    return r ? r : mark_remove(store);
}

/* ---- checking ---- */

static int check_block(struct store *store, sqlite3_stmt *row, int64_t *values) {
    struct block block;
    const void *data = sqlite3_column_blob(row, 0);
    int r = block_open(data, data ? (size_t)sqlite3_column_bytes(row, 0) : 0, &block);
    if (!r && (int64_t)block.n_rows != sqlite3_column_int64(row, 1))
        r = -EBADMSG;
    for (size_t i = 0; !r && i < block.n_columns; i++)
        r = block_read(store->blocks, &block, block.columns[i].number, values);
    return r;
}

int cold_check(struct store *store) {
    AUTO(sql_finalize) sqlite3_stmt *blocks = NULL;
    bool has = false;
    int code = SQLITE_DONE, r = sql_has_table(store, "block", &has);
    if (r || !has)
        return r;
    if (!blocks_work(store, &r))
        return r;
    int64_t *values = malloc(BLOCK_ROWS_MAX * sizeof *values);
    r = values ? sql_prepare(store, "SELECT columns, n FROM block", &blocks) : -ENOMEM;
    while (!r && (code = sqlite3_step(blocks)) == SQLITE_ROW)
        r = check_block(store, blocks, values);
    free(values);
    return r ? r : sql_errno(code);
}
