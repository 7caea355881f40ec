/* SPDX-License-Identifier: MIT */
/*
 * Descriptions of tables that pushes have brought, each read once: hosts of one run describe the
 * same tables with every push, unless the answer gives them a number to write instead.
 *
 * That number is made here, of the very bytes that came, with a key that nobody else knows and that
 * is another one after a restart: a sender can name what this process has read, and nothing else.
 */
#ifndef CHOKEPOINT_COLLECTOR_KNOWN_TABLES_H
#define CHOKEPOINT_COLLECTOR_KNOWN_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire.h"

#define KNOWN_BLOCKS_MAX 64         /* then the one that was not used for longest goes */
#define KNOWN_TABLES_MAX 1024       /* of all blocks together: 15 MB */
#define KNOWN_BYTES_MAX (64u << 10) /* of one block; a longer one is read with each push */

struct known_block {
    uint64_t id;                           /* 1..INT64_MAX */
    struct wire_table *tables[TABLES_MAX]; /* owned */
    int64_t ids[TABLES_MAX];               /* of the store, if `age` is that of its shapes */
    int64_t age;                           /* -1: ids are not known */
    struct buffer bytes;                   /* owned: as they came */
    size_t n_tables;
    uint64_t used; /* when last, by the count of uses */
};

struct known_tables;

int known_tables_new(struct known_tables **ret_known); /* -ENOMEM, -EIO */
void known_tables_free(struct known_tables *known);    /* takes NULL */

/* NULL: there is none. A block stays until the next known_tables_keep. */
struct known_block *known_tables_by_id(struct known_tables *known, uint64_t id);
struct known_block *known_tables_by_bytes(struct known_tables *known, struct span bytes);

/* Keeps what the reader has read of exactly these bytes, which have been looked for: its tables are
 * borrowed from here then. NULL: they are not kept, and stay the reader's. */
struct known_block *known_tables_keep(struct known_tables *known, struct span bytes,
                                      struct wire_reader *reader);

#endif
