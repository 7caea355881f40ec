/* SPDX-License-Identifier: MIT */
/*
 * One allocation for all values: a frame's rows lie side by side. Nothing is written to a row
 * before it is appended, so that room that is never used costs no memory.
 */
#include "common/rows.h"

#include <errno.h>
#include <stdlib.h>

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

void rows_release(struct rows *rows) {
    free(rows->items);
    free(rows->values);
    *rows = (struct rows){0};
}

void rows_reset(struct rows *rows) {
    rows->n = 0;
    rows->sampled = false;
}

struct row *rows_append(struct rows *rows, const char *name, size_t name_size) {
    if (rows->n == rows->capacity) {
        rows->dropped++;
        return NULL;
    }
    struct row *row = &rows->items[rows->n];
    row->values = rows->values + rows->n++ * rows->table->n_columns;
    row->flags = 0;
    row->name_size = (uint8_t)text_sanitize(row->name, sizeof row->name, name, name_size);
    for (size_t i = 0; i < rows->table->n_columns; i++)
        row->values[i] = VALUE_ABSENT;
    return row;
}
