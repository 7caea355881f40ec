/* SPDX-License-Identifier: MIT */
/*
 * Shapes: each maps a stream's description of a table to the data table, and has the statement that
 * inserts its rows. The public id of a shape contains its age, so that an id from before a rollback
 * is refused and never taken for another shape.
 */
#include "collector/store_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int64_t store_table_age(const struct store *store) {
    return store->shape_age;
}

static int64_t shape_public_id(const struct store *store, size_t index) {
    return (int64_t)((uint64_t)(store->shape_age & 0x7fffffff) << 32 | index);
}

struct shape *shape_get(struct store *store, int64_t public_id) {
    uint64_t index = (uint64_t)public_id & 0xffffffff;
    if ((uint64_t)public_id >> 32 != (store->shape_age & 0x7fffffff) || index >= store->n_shapes)
        return NULL;
    return store->shapes[index];
}

static bool shape_is(const struct shape *shape, const struct table *table) {
    const struct data_table *stored = shape->table;
    if (stored->kind != table->kind || shape->n_columns != table->n_columns ||
        strcmp(stored->name, table->name) != 0)
        return false;
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct data_column *column = &stored->columns[shape->ordinals[i]];
        if (column->unit != table->columns[i].unit || column->kind != table->columns[i].kind ||
            strcmp(column->name, table->columns[i].name) != 0)
            return false;
    }
    return true;
}

static int shape_new(struct store *store, struct data_table *stored, const struct table *table,
                     int64_t *ret_id) {
    struct shape **shapes = realloc(store->shapes, (store->n_shapes + 1) * sizeof *shapes);
    struct shape *shape = calloc(1, sizeof *shape);
    if (shapes)
        store->shapes = shapes;
    if (!shapes || !shape) {
        free(shape);
        return -ENOMEM;
    }
    shape->table = stored;
    shape->n_columns = table->n_columns;
    for (size_t i = 0; i < table->n_columns; i++) {
        shape->ordinals[i] = (uint16_t)table_column(stored, table->columns[i].name);
        shape->counters[i] =
            table->kind == TABLE_SAMPLES && table->columns[i].kind == COLUMN_COUNTER;
    }
    int r = batch_new(store, stored, shape, &shape->batch);
    if (r) {
        free(shape);
        return r;
    }
    *ret_id = shape_public_id(store, store->n_shapes);
    shapes[store->n_shapes++] = shape;
    return 0;
}

static int shape_make(struct store *store, const struct table *table, int64_t *ret_id) {
    struct data_table *stored;
    int r = table_ensure(store, table, &stored);
    return r ? r : shape_new(store, stored, table, ret_id);
}

int store_table(struct store *store, const struct table *table, int64_t *ret_id) {
    for (size_t i = 0; i < store->n_shapes; i++) {
        if (shape_is(store->shapes[i], table)) {
            *ret_id = shape_public_id(store, i);
            return 0;
        }
    }
    if (table->n_columns == 0 || table->n_columns > TABLE_COLUMNS_MAX)
        return -EINVAL;
    if (!sqlite3_get_autocommit(store->db))
        return shape_make(store, table, ret_id);
    int r = store_begin(store);
    if (!r)
        r = shape_make(store, table, ret_id);
    if (!r)
        return store_commit(store);
    char why[sizeof store->why];
    memcpy(why, store->why, sizeof why);
    store_rollback(store);
    memcpy(store->why, why, sizeof why);
    return r;
}
