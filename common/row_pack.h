/* SPDX-License-Identifier: MIT */
/*
 * Rows of one table in the packed byte form (wire.h, 'P'), made as they come: a row takes ten bytes
 * instead of the 240 of a struct, which would be written, read again and push the data of the
 * observed out of the caches.
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
    uint8_t slots[256]; /* by hash: the place of the name that was there last */
    size_t n_names, last;
    int64_t before[TABLE_COLUMNS_MAX]; /* the previous row: present and known in one comparison */
    /* the decoder's knowledge after it */
    uint64_t present;
    uint64_t known[TABLE_COLUMNS_MAX];
};

/* Takes the memory of that many rows: afterwards nothing is allocated. -ENOMEM. */
int row_pack_reserve(struct row_pack *pack, size_t rows, size_t n_columns);
void row_pack_release(struct row_pack *pack);

/* Forgets names and rows, keeps the memory. */
void row_pack_reset(struct row_pack *pack);

/* The next row is of this instance, as rows_append has it; pack->last is its place then. One name
 * too many is an error (bytes.error: -E2BIG). */
void row_pack_name(struct row_pack *pack, const char *name, size_t size);

/* Its values, after its name. */
void row_pack_values(struct row_pack *pack, const int64_t *values, size_t n_columns);

#endif
