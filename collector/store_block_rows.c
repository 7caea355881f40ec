/* SPDX-License-Identifier: MIT */
/*
 * Events that arrive in packed frames become blocks. Their rows are decoded into columns, which
 * wait here until a block is full, another stream has rows of the same table, or the transaction
 * ends: a block is committed with the frames of its rows, so that a rollback or a killed collector
 * loses and doubles nothing.
 */
#include "collector/store_private.h"

#include <errno.h>
#include <stdlib.h>

#define OWN 4 /* columns before those of the shape: instance, frame, time, n */

struct block_rows {
    int64_t stream; /* that of the frames */
    size_t n;
    int64_t *cells; /* owned: OWN + n_columns columns of BLOCK_ROWS values */
    uint8_t names[BLOCK_ROWS];
};

static int64_t *column_at(const struct block_rows *rows, size_t column) {
    return rows->cells + column * BLOCK_ROWS;
}

void block_rows_free(struct block_rows *rows) {
    if (!rows)
        return;
    free(rows->cells);
    free(rows);
}

static struct block_rows *block_rows_new(const struct shape *shape) {
    struct block_rows *rows = malloc(sizeof *rows);
    if (!rows)
        return NULL;
    rows->n = 0;
    rows->cells = malloc((OWN + shape->n_columns) * BLOCK_ROWS * sizeof *rows->cells);
    if (rows->cells)
        return rows;
    free(rows);
    return NULL;
}

struct block_work *blocks_work(struct store *store, int *ret_error) {
    if (!store->blocks)
        *ret_error = block_work_new(&store->blocks);
    return store->blocks;
}

/* ---- writing ---- */

static void find_span(const int64_t *values, size_t n, int64_t *ret_least, int64_t *ret_most) {
    *ret_least = *ret_most = values[0];
    for (size_t i = 1; i < n; i++) {
        *ret_least = values[i] < *ret_least ? values[i] : *ret_least;
        *ret_most = values[i] > *ret_most ? values[i] : *ret_most;
    }
}

static int insert_block(struct store *store, const struct shape *shape, size_t from, size_t n,
                        const struct buffer *blob) {
    const struct block_rows *rows = shape->waiting;
    const int64_t *frames = column_at(rows, BLOCK_FRAME) + from;
    int64_t least_ns, most_ns;
    int r = 0;
    sqlite3_stmt *statement = sql_statement(store, SQL_BLOCK_INSERT, &r);
    if (!statement)
        return r;
    find_span(column_at(rows, BLOCK_TIME) + from, n, &least_ns, &most_ns);
    sql_bind(statement, "iiiiiii", rows->stream, shape->table->id, frames[0], frames[n - 1],
             least_ns, most_ns, (int64_t)n);
    sqlite3_bind_blob64(statement, 8, blob->data, blob->size, SQLITE_STATIC);
    r = sql_errno(sqlite3_step(statement));
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return r;
}

/* The columns of rows from `from` on, by rising number: ordinals need not rise. */
static size_t list_columns(const struct shape *shape, size_t from,
                           struct block_values columns[OWN + TABLE_COLUMNS_MAX]) {
    size_t n = 0;
    for (unsigned i = 0; i < OWN; i++)
        columns[n++] = (struct block_values){i, column_at(shape->waiting, i) + from};
    for (size_t i = 0; i < shape->n_columns; i++) {
        struct block_values column = {BLOCK_OWN + shape->ordinals[i],
                                      column_at(shape->waiting, OWN + i) + from};
        size_t at = n++;
        for (; columns[at - 1].number > column.number; at--)
            columns[at] = columns[at - 1];
        columns[at] = column;
    }
    return n;
}

/* Rows that need more bytes than a blob may have become two blocks. */
static int save_block(struct store *store, const struct shape *shape, size_t from, size_t n) {
    struct block_values columns[OWN + TABLE_COLUMNS_MAX];
    struct buffer blob = {0};
    int r = 0;
    struct block_work *work = blocks_work(store, &r);
    if (!work)
        return r;
    r = block_pack(work, columns, list_columns(shape, from, columns), n, &blob);
    if (r == 0)
        r = insert_block(store, shape, from, n, &blob);
    buffer_release(&blob);
    if (r != -E2BIG)
        return r;
    r = save_block(store, shape, from, n / 2);
    return r ? r : save_block(store, shape, from + n / 2, n - n / 2);
}

static int save_waiting(struct store *store, const struct shape *shape) {
    struct block_rows *rows = shape->waiting;
    int r = 0;
    if (rows && rows->n)
        r = save_block(store, shape, 0, rows->n);
    if (rows)
        rows->n = 0;
    return r;
}

int blocks_save(struct store *store) {
    int r = 0;
    for (size_t i = 0; !r && i < store->n_shapes; i++)
        r = save_waiting(store, store->shapes[i]);
    return r;
}

/* ---- rows of a section ---- */

static int need_rows(struct store *store, struct shape *shape) {
    struct block_rows *rows = shape->waiting;
    if (!rows && !(rows = shape->waiting = block_rows_new(shape)))
        return -ENOMEM;
    int r = rows->n == BLOCK_ROWS || rows->stream != store->stream->home
                ? save_waiting(store, shape)
                : 0;
    rows->stream = store->stream->home;
    return r;
}

/* Indexes of the names' instances in the series; SIZE_MAX: none, its rows are left out. */
static int find_bases(struct store *store, struct series *series,
                      const struct wire_section *section, size_t bases[WIRE_NAMES_MAX]) {
    int r = 0;
    for (size_t i = 0; i < section->n_names && !r; i++) {
        struct base *base = base_of(store, series, section->names[i], &r);
        bases[i] = base ? (size_t)(base - series->items) : SIZE_MAX;
        if (!base)
            continue;
        if (base->frame != store->frame)
            base->next_n = 0;
        base->frame = store->frame;
        base->seen_ns = series->sample_ns;
        base->seen_sample = series->sample;
    }
    return r;
}

/* Fills the columns before the shape's of n rows behind those that wait. */
static void place_rows(struct store *store, const struct shape *shape, struct series *series,
                       const size_t bases[WIRE_NAMES_MAX], size_t n) {
    struct block_rows *rows = shape->waiting;
    size_t to = rows->n;
    for (size_t i = rows->n; i < rows->n + n; i++) {
        size_t at = bases[rows->names[i]];
        if (at == SIZE_MAX)
            continue;
        for (size_t c = OWN; to != i && c < OWN + shape->n_columns; c++)
            column_at(rows, c)[to] = column_at(rows, c)[i];
        column_at(rows, BLOCK_INSTANCE)[to] = series->items[at].instance;
        column_at(rows, BLOCK_FRAME)[to] = store->frame;
        column_at(rows, BLOCK_TIME)[to] = store->mono_ns;
        column_at(rows, BLOCK_THIRD)[to++] = series->items[at].next_n++;
    }
    store->stream->dropped_rows += (int64_t)(rows->n + n - to);
    rows->n = to;
}

/* Reads as many rows as the block has room for. */
static void take_rows(struct store *store, const struct shape *shape, struct series *series,
                      struct wire_section *section, const size_t bases[WIRE_NAMES_MAX]) {
    struct block_rows *rows = shape->waiting;
    int64_t *columns[TABLE_COLUMNS_MAX];
    for (size_t c = 0; c < shape->n_columns; c++)
        columns[c] = column_at(rows, OWN + c) + rows->n;
    size_t n = wire_section_rows(section, BLOCK_ROWS - rows->n, columns, rows->names + rows->n);
    place_rows(store, shape, series, bases, n);
}

int store_section(struct store *store, int64_t table_id, struct wire_section *section) {
    size_t bases[WIRE_NAMES_MAX];
    int r = 0;
    struct shape *shape = shape_get(store, table_id);
    if (!shape || !store->stream || shape->n_columns != section->table->n_columns ||
        shape->table->kind != TABLE_EVENTS)
        return -EINVAL;
    struct series *series = series_of(store, shape, &r);
    if (!series)
        return r;
    series->dirty = true;
    r = find_bases(store, series, section, bases);
    while (!r && section->rows) {
        r = need_rows(store, shape);
        if (!r)
            take_rows(store, shape, series, section, bases);
    }
    return r;
}
