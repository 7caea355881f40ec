/* SPDX-License-Identifier: MIT */
/*
 * Inserts of rows, some at a time: one statement for BATCH rows of a shape takes two thirds of the
 * time of as many statements for one. Rows wait until there are so many, or the transaction ends.
 */
#include "collector/store_private.h"

#include <errno.h>
#include <stdlib.h>

#define BATCH 16
#define OWN 3 /* frame, instance, interval_ns or n */

struct row_batch {
    sqlite3_stmt *one, *all; /* owned; all: NULL until first used */
    size_t n, width;
    int64_t cells[]; /* BATCH x width */
};

int batch_new(struct store *store, const struct data_table *table, const struct shape *shape,
              struct row_batch **ret_batch) {
    size_t width = OWN + shape->n_columns;
    struct row_batch *batch = calloc(1, sizeof *batch + BATCH * width * sizeof *batch->cells);
    if (!batch)
        return -ENOMEM;
    batch->width = width;
    int r = sql_prepare_made(store, table_insert_sql(table, shape, 1), &batch->one);
    if (r)
        batch_free(batch);
    else
        *ret_batch = batch;
    return r;
}

void batch_free(struct row_batch *batch) {
    if (!batch)
        return;
    sqlite3_finalize(batch->one);
    sqlite3_finalize(batch->all);
    free(batch);
}

static int insert_cells(sqlite3_stmt *statement, const int64_t *cells, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (cells[i] == VALUE_ABSENT)
            sqlite3_bind_null(statement, (int)i + 1);
        else
            sqlite3_bind_int64(statement, (int)i + 1, cells[i]);
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return sql_errno(code);
}

static int insert_all(struct store *store, const struct shape *shape) {
    struct row_batch *batch = shape->batch;
    int r = batch->all ? 0
                       : sql_prepare_made(store, table_insert_sql(shape->table, shape, BATCH),
                                          &batch->all);
    batch->n = 0;
    return r ? r : insert_cells(batch->all, batch->cells, BATCH * batch->width);
}

int batch_add(struct store *store, const struct shape *shape, int64_t frame, int64_t instance,
              int64_t third, const int64_t *values) {
    struct row_batch *batch = shape->batch;
    int64_t *cells = batch->cells + batch->n++ * batch->width;
    cells[0] = frame;
    cells[1] = instance;
    cells[2] = third;
    for (size_t i = 0; i < shape->n_columns; i++)
        cells[OWN + i] = values[i];
    return batch->n == BATCH ? insert_all(store, shape) : 0;
}

int batches_save(struct store *store) {
    int r = 0;
    for (size_t s = 0; !r && s < store->n_shapes; s++) {
        struct row_batch *batch = store->shapes[s]->batch;
        for (size_t i = 0; !r && i < batch->n; i++)
            r = insert_cells(batch->one, batch->cells + i * batch->width, batch->width);
        batch->n = 0;
    }
    return r;
}
