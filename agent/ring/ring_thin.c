/* SPDX-License-Identifier: MIT */
#include "agent/ring/ring_thin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 4096 /* of a table */

struct ring_thin {
    struct rows rows[TABLES_MAX];
    struct rows *list[TABLES_MAX];
    unsigned indexes[TABLES_MAX];
    size_t next[TABLES_MAX]; /* where the next row is likely: frames have the same order */
    size_t n;
    struct buffer scratch;
};

int ring_thin_new(struct wire_table *const tables[TABLES_MAX], struct ring_thin **ret_thin) {
    struct ring_thin *thin = calloc(1, sizeof *thin);
    if (!thin)
        return -ENOMEM;
    for (; thin->n < TABLES_MAX && tables[thin->n]; thin->n++) {
        size_t i = thin->n;
        if (rows_init(&thin->rows[i], &tables[i]->table, ROWS_MAX) < 0) {
            ring_thin_free(thin);
            return -ENOMEM;
        }
        thin->list[i] = &thin->rows[i];
        thin->indexes[i] = (unsigned)i;
    }
    *ret_thin = thin;
    return 0;
}

void ring_thin_free(struct ring_thin *thin) {
    if (!thin)
        return;
    for (size_t i = 0; i < thin->n; i++)
        rows_release(&thin->rows[i]);
    buffer_release(&thin->scratch);
    free(thin);
}

static bool is_row(const struct row *row, struct span name) {
    return row->name_size == name.size && memcmp(row->name, name.data, name.size) == 0;
}

/* The row of that name, appended if there is none; NULL: no room. */
static struct row *need_row(struct ring_thin *thin, unsigned index, struct span name) {
    struct rows *rows = &thin->rows[index];
    size_t at = thin->next[index];
    for (size_t tried = 0; tried < rows->n; tried++, at++) {
        at = at < rows->n ? at : 0;
        if (is_row(&rows->items[at], name)) {
            thin->next[index] = at + 1;
            return &rows->items[at];
        }
    }
    thin->next[index] = 0;
    return rows_append(rows, name.data, name.size);
}

bool ring_thin_add(struct ring_thin *thin, const struct wire_reader *reader,
                   struct wire_record frame) {
    const struct table *table;
    struct wire_row from;
    unsigned index;
    bool all = true;
    memset(thin->next, 0, sizeof thin->next);
    for (size_t i = 0; i < thin->n; i++)
        thin->rows[i].sampled |= frame.sampled >> i & 1;
    while (wire_frame_row(reader, &frame, &table, &index, &from)) {
        struct row *row = index < thin->n ? need_row(thin, index, from.name) : NULL;
        all &= row != NULL;
        if (!row)
            continue;
        row->flags |= from.flags;
        memcpy(row->values, from.values, table->n_columns * sizeof *row->values);
    }
    return all;
}

int ring_thin_put(struct ring_thin *thin, const struct frame_head *head, struct buffer *to) {
    buffer_reset(to);
    wire_put_frame(to, &thin->scratch, head, thin->list, thin->indexes, thin->n);
    for (size_t i = 0; i < thin->n; i++)
        rows_reset(&thin->rows[i]);
    return to->error;
}
