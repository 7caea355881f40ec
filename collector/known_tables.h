/* SPDX-License-Identifier: MIT */
/*
 * Descriptions of tables that pushes brought, each read once. The hosts of a run describe the same
 * tables with every push, unless the collector's answer gives them a number to send instead.
 *
 * The number is made here, of the received bytes and a random key of this process. So a sender can
 * only name tables that this process has read.
 */
#ifndef CHOKEPOINT_COLLECTOR_KNOWN_TABLES_H
#define CHOKEPOINT_COLLECTOR_KNOWN_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire.h"

#define KNOWN_BLOCKS_MAX 64         /* above this the least recently used block is dropped */
#define KNOWN_TABLES_MAX 1024       /* in all blocks together: 15 MB */
#define KNOWN_BYTES_MAX (64u << 10) /* in one block; a longer one is read with each push */

struct known_block {
    uint64_t id;                           /* 1..INT64_MAX */
    struct wire_table *tables[TABLES_MAX]; /* owned */
    int64_t ids[TABLES_MAX];               /* of the store, when its shapes had this age */
    int64_t age;                           /* -1: ids are not known */
    struct buffer bytes;                   /* owned: as received */
    size_t n_tables;
    uint64_t used; /* the count of uses when it was used last */
};

struct known_tables;

int known_tables_new(struct known_tables **ret_known); /* -ENOMEM, -EIO */
void known_tables_free(struct known_tables *known);    /* takes NULL */

/* NULL: not known. A block stays until the next known_tables_keep. */
struct known_block *known_tables_by_id(struct known_tables *known, uint64_t id);
struct known_block *known_tables_by_bytes(struct known_tables *known, struct span bytes);

/* Keeps the tables that the reader made of these bytes, which known_tables_find did not find; the
 * block owns them then, and the reader borrows. NULL: not kept, and the reader still owns them. */
struct known_block *known_tables_keep(struct known_tables *known, struct span bytes,
                                      struct wire_reader *reader);

#endif
