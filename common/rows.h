/* SPDX-License-Identifier: MIT */
/*
 * The rows of one table in one frame: what a probe appends to. Capacity is fixed at creation, so
 * that sampling allocates nothing; a row too many is dropped and counted.
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
    int64_t *values;             /* n_columns of the table, in its order */
};

/* The instance came into being after the table's previous sample: its counters began at zero
 * then, so their whole value counts as growth (a process that started, an interface plugged in). */
#define ROW_BORN 0x01

struct rows {
    const struct table *table;
    struct row *items; /* `n` of `capacity` in use */
    int64_t *values;   /* capacity x n_columns */
    size_t n, capacity;
    bool sampled;          /* a frame tells so, even if there was no row */
    uint64_t dropped;      /* rows that did not fit since rows_init */
    struct row_pack *pack; /* NULL, or: there is one item, the row in work; owned */
    bool in_work;          /* it is not packed yet */
};

/* Allocates room for `capacity` rows. table is borrowed. -ENOMEM. */
int rows_init(struct rows *rows, const struct table *table, size_t capacity);
void rows_release(struct rows *rows);

/* Rows that are packed as they come: each is there, without its name, until the next is appended.
 * -ENOMEM. */
int rows_init_packed(struct rows *rows, const struct table *table, size_t capacity);

/* All rows so far in the packed form: the last one is in work no more. */
const struct row_pack *rows_packed(struct rows *rows);

/* Forgets the rows and that they were sampled, keeps the memory and the count of drops. */
void rows_reset(struct rows *rows);

/* Appends a row of the instance with all values VALUE_ABSENT and returns it, or NULL when the
 * rows are full (counted in dropped). Bytes that are not printable UTF-8 become '?'. */
struct row *rows_append(struct rows *rows, const char *name, size_t name_size);

#endif
