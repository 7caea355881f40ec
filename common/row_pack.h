/* SPDX-License-Identifier: MIT */
/*
 * Rows of one table in the packed byte form (wire.h, 'P'), encoded as they come. A row takes ten
 * bytes; the 240 of a struct would have to be written and read again, and displace the observed
 * program's data from the caches.
 */
#ifndef CHOKEPOINT_COMMON_ROW_PACK_H
#define CHOKEPOINT_COMMON_ROW_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"
#include "common/table.h"

#define ROW_NAMES_MAX 250 /* different instances */

struct row_pack_name {
    uint8_t size;
    char text[INSTANCE_MAX + 1];
};

struct row_pack {
    struct buffer bytes;                       /* of the rows so far */
    struct row_pack_name names[ROW_NAMES_MAX]; /* in the order of their first appearance */
    uint8_t slots[256];                        /* by hash: index of the last name with this hash */
    size_t n_names, last;
    int64_t
        before[TABLE_COLUMNS_MAX]; /* the previous row: one comparison tells presence and value */
    /* state of the decoder after this row */
    uint64_t present;
    uint64_t known[TABLE_COLUMNS_MAX];
};

/* Allocates for that many rows; later calls allocate nothing. -ENOMEM. */
int row_pack_reserve(struct row_pack *pack, size_t rows, size_t n_columns);
void row_pack_release(struct row_pack *pack);

/* Forgets names and rows, keeps the memory. */
void row_pack_reset(struct row_pack *pack);

/* Begins a row of this instance, as rows_append; pack->last is the index of its name. One name too
 * many is an error (bytes.error: -E2BIG). */
void row_pack_name(struct row_pack *pack, const char *name, size_t size);

/* Appends the values of the row, after its name. */
void row_pack_values(struct row_pack *pack, const int64_t *values, size_t n_columns);

#endif
