/* SPDX-License-Identifier: MIT */
/*
 * One allocation for all values: a frame's rows lie side by side. A row is not written before it is
 * appended, so unused capacity costs no memory.
 */
#include "common/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

int rows_init(struct rows *rows, const struct table *table, size_t capacity) {
    struct row *items = calloc(capacity ? capacity : 1, sizeof *items);
    int64_t *values = calloc(capacity * table->n_columns + 1, sizeof *values);
    if (!items || !values) {
        free(items);
        free(values);
        return -ENOMEM;
    }
    *rows = (struct rows){.table = table, .items = items, .values = values, .capacity = capacity};
    return 0;
}

int rows_init_packed(struct rows *rows, const struct table *table, size_t capacity) {
    int r = rows_init(rows, table, 1);
    if (r < 0)
        return r;
    rows->capacity = capacity;
    rows->pack = calloc(1, sizeof *rows->pack);
    r = rows->pack ? row_pack_reserve(rows->pack, capacity + 1, table->n_columns) : -ENOMEM;
    if (r < 0)
        rows_release(rows);
    else
        row_pack_reset(rows->pack);
    return r;
}

void rows_release(struct rows *rows) {
    if (rows->pack)
        row_pack_release(rows->pack);
    free(rows->pack);
    free(rows->items);
    free(rows->values);
    *rows = (struct rows){0};
}

void rows_reset(struct rows *rows) {
    rows->n = 0;
    rows->sampled = false;
    rows->in_work = false;
    if (rows->pack)
        row_pack_reset(rows->pack);
}

static void set_absent(struct rows *rows, struct row *row) {
    for (size_t i = 0; i < rows->table->n_columns; i++)
        row->values[i] = VALUE_ABSENT;
}

const struct row_pack *rows_packed(struct rows *rows) {
    if (rows->in_work)
        row_pack_values(rows->pack, rows->values, rows->table->n_columns);
    rows->in_work = false;
    return rows->pack;
}

static struct row *append_packed(struct rows *rows, const char *name, size_t name_size) {
    struct row *row = rows->items;
    rows_packed(rows);
    row_pack_name(rows->pack, name, name_size);
    rows->in_work = true;
    rows->n++;
    row->values = rows->values;
    set_absent(rows, row);
    return row;
}

bool rows_have(const struct rows *rows, size_t n, const char *name, size_t size) {
    for (size_t i = 0; i < n && i < rows->n; i++)
        if (rows->items[i].name_size == size && memcmp(rows->items[i].name, name, size) == 0)
            return true;
    return false;
}

struct row *rows_append(struct rows *rows, const char *name, size_t name_size) {
    if (rows->n == rows->capacity) {
        rows->dropped++;
        return NULL;
    }
    if (rows->pack)
        return append_packed(rows, name, name_size);
    struct row *row = &rows->items[rows->n];
    row->values = rows->values + rows->n++ * rows->table->n_columns;
    row->flags = 0;
    row->name_size = (uint8_t)text_sanitize(row->name, sizeof row->name, name, name_size);
    set_absent(rows, row);
    return row;
}
