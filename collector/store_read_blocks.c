/* SPDX-License-Identifier: MIT */
/* The blocks of a table, as the readers of rows go through them. */
#include "collector/store_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "common/error.h"

int blocks_exist(struct store *store, int64_t table_id, bool *ret_exist) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    bool has = false;
    int r = sql_has_table(store, "block", &has);
    *ret_exist = false;
    if (r || !has)
        return r;
    r = sql_prepare(store, "SELECT 1 FROM block WHERE table_id = ? LIMIT 1", &statement);
    if (!r)
        r = sql_bind(statement, "i", table_id);
    int code = r ? SQLITE_DONE : sqlite3_step(statement);
    *ret_exist = code == SQLITE_ROW;
    return r ? r : sql_errno(code);
}

int rows_blocks_open(const struct rows_table *table, struct rows_blocks *ret_blocks) {
    bool has = false;
    *ret_blocks = (struct rows_blocks){.table = table};
    int r = sql_has_table(table->store, "block", &has);
    if (r || !has)
        return r;
    r = rows_table_ordinals(table, ret_blocks->ordinals);
    return r ? r
             : sql_prepare(table->store,
                           "SELECT from_frame, columns FROM block WHERE stream = ? AND"
                           " table_id = ? ORDER BY until_frame, block",
                           &ret_blocks->list);
}

void rows_blocks_release(struct rows_blocks *blocks) {
    sqlite3_finalize(blocks->list);
    block_times_release(&blocks->times);
    free(blocks->cells);
    *blocks = (struct rows_blocks){0};
}

int rows_blocks_begin(struct rows_blocks *blocks, int64_t stream) {
    blocks->left = false;
    if (!blocks->list)
        return 0;
    sqlite3_reset(blocks->list);
    blocks->stream = stream;
    int r = sql_bind(blocks->list, "ii", stream, blocks->table->id);
    return r ? r : rows_blocks_next(blocks);
}

int rows_blocks_next(struct rows_blocks *blocks) {
    int code = sqlite3_step(blocks->list);
    blocks->left = code == SQLITE_ROW;
    if (blocks->left)
        blocks->from_frame = sqlite3_column_int64(blocks->list, 0);
    else
        sqlite3_reset(blocks->list);
    return sql_errno(code);
}

static int make_room(struct rows_blocks *blocks, size_t n_rows) {
    size_t width = ROWS_VALUES + blocks->table->n_columns;
    if (n_rows <= blocks->capacity)
        return 0;
    int64_t *cells = realloc(blocks->cells, n_rows * width * sizeof *cells);
    if (!cells)
        return -ENOMEM;
    blocks->cells = cells;
    blocks->capacity = n_rows;
    return 0;
}

static int read_column(struct rows_blocks *blocks, struct block_work *work,
                       const struct block *block, unsigned number, size_t to) {
    int r = block_read(work, block, number, blocks->cells + to * blocks->capacity);
    return r < 0 ? r : 0;
}

/* Times and intervals of samples, by their frames. */
static int read_times(struct rows_blocks *blocks, struct block_work *work,
                      const struct block *block) {
    int64_t *cells = blocks->cells, *times = cells + ROWS_TIME * blocks->capacity;
    int64_t *intervals = cells + ROWS_INTERVAL * blocks->capacity;
    int r = read_column(blocks, work, block, BLOCK_FRAME, ROWS_TIME);
    if (!r)
        r = sql_errno(block_times_load(&blocks->times, blocks->table->store->db, blocks->stream));
    if (!r)
        r = read_column(blocks, work, block, BLOCK_THIRD, ROWS_INTERVAL);
    if (r)
        return r;
    block_times_of(&blocks->times, times, block->n_rows, times);
    block_intervals_restore(rows_blocks_column(blocks, ROWS_INSTANCE), times, block->n_rows,
                            intervals);
    for (size_t i = 0; i < block->n_rows; i++)
        intervals[i] = intervals[i] > 0 ? intervals[i] : VALUE_ABSENT;
    return 0;
}

int rows_blocks_read(struct rows_blocks *blocks) {
    struct block block;
    int r = 0;
    struct block_work *work = blocks_work(blocks->table->store, &r);
    if (!work)
        return r;
    const void *data = sqlite3_column_blob(blocks->list, 1);
    r = block_open(data, data ? (size_t)sqlite3_column_bytes(blocks->list, 1) : 0, &block);
    if (!r)
        r = store_count_cells(blocks->table->store,
                              block.n_rows * (ROWS_VALUES + blocks->table->n_columns));
    if (!r)
        r = make_room(blocks, block.n_rows);
    if (!r)
        r = read_column(blocks, work, &block, BLOCK_INSTANCE, ROWS_INSTANCE);
    if (!r)
        r = blocks->table->events ? read_column(blocks, work, &block, BLOCK_TIME, ROWS_TIME)
                                  : read_times(blocks, work, &block);
    for (size_t c = 0; !r && c < blocks->table->n_columns; c++)
        r = read_column(blocks, work, &block,
                        blocks->ordinals[c] < 0 ? BLOCK_COLUMNS_MAX
                                                : BLOCK_OWN + (unsigned)blocks->ordinals[c],
                        ROWS_VALUES + c);
    return r ? r : (int)block.n_rows;
}
