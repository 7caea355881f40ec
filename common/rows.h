/* SPDX-License-Identifier: MIT */
/*
 * The rows of one table in one frame, which a probe appends. The capacity is fixed at creation, so
 * that sampling allocates nothing; rows beyond it are dropped and counted.
 */
#ifndef CHOKEPOINT_COMMON_ROWS_H
#define CHOKEPOINT_COMMON_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/row_pack.h"
#include "common/table.h"

struct row {
    uint8_t flags; /* ROW_BORN */
    uint8_t name_size;
    char name[INSTANCE_MAX + 1]; /* the instance, NUL-terminated */
    int64_t *values;             /* one for each column of the table */
};

/* The instance began after the table's previous sample. Its counters began at zero then, so their
 * whole value counts as growth (a process that started, an interface plugged in). */
#define ROW_BORN 0x01

struct rows {
    const struct table *table;
    struct row *items; /* `n` of `capacity` in use */
    int64_t *values;   /* capacity x n_columns */
    size_t n, capacity;
    bool sampled;          /* the frame has the table, even without rows */
    uint64_t dropped;      /* rows that did not fit since rows_init */
    struct row_pack *pack; /* owned or NULL; if set, `items` has only the current row */
    bool in_work;          /* the current row is not packed yet */
};

/* Allocates room for `capacity` rows. table is borrowed. -ENOMEM. */
int rows_init(struct rows *rows, const struct table *table, size_t capacity);
void rows_release(struct rows *rows);

/* For rows that are packed as they come: each row stays, without its name, until the next append.
 * -ENOMEM. */
int rows_init_packed(struct rows *rows, const struct table *table, size_t capacity);

/* All rows so far in the packed form; packs the current row, too. */
const struct row_pack *rows_packed(struct rows *rows);

/* Forgets the rows and `sampled`, keeps the memory and the count of drops. */
void rows_reset(struct rows *rows);

/* Whether one of the first n rows has that name. */
bool rows_have(const struct rows *rows, size_t n, const char *name, size_t size);

/* Appends a row of the instance with all values VALUE_ABSENT and returns it, or NULL when the
 * rows are full (counted in dropped). Bytes that are not printable UTF-8 become '?'. */
struct row *rows_append(struct rows *rows, const char *name, size_t name_size);

#endif
