/* SPDX-License-Identifier: MIT */
/* Holds a few blocks, of one or two versions of an agent; a search walks them all. */
#include "collector/known_tables.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/error.h"
#include "common/siphash.h"

struct known_tables {
    uint64_t key[2];
    struct known_block *blocks[KNOWN_BLOCKS_MAX]; /* owned */
    size_t n_blocks, n_tables;
    uint64_t uses;
};

int known_tables_new(struct known_tables **ret_known) {
    struct known_tables *known = calloc(1, sizeof *known);
    if (!known)
        return -ENOMEM;
    if (getrandom(known->key, sizeof known->key, 0) != sizeof known->key) {
        free(known);
        return -EIO;
    }
    *ret_known = known;
    return 0;
}

static void free_block(struct known_block *block) {
    for (size_t i = 0; i < TABLES_MAX; i++)
        free(block->tables[i]);
    buffer_release(&block->bytes);
    free(block);
}

void known_tables_free(struct known_tables *known) {
    if (!known)
        return;
    for (size_t i = 0; i < known->n_blocks; i++)
        free_block(known->blocks[i]);
    free(known);
}

static struct known_block *use(struct known_tables *known, struct known_block *block) {
    block->used = ++known->uses;
    return block;
}

struct known_block *known_tables_by_id(struct known_tables *known, uint64_t id) {
    for (size_t i = 0; i < known->n_blocks; i++)
        if (known->blocks[i]->id == id)
            return use(known, known->blocks[i]);
    return NULL;
}

struct known_block *known_tables_by_bytes(struct known_tables *known, struct span bytes) {
    for (size_t i = 0; i < known->n_blocks; i++) {
        struct known_block *block = known->blocks[i];
        if (block->bytes.size == bytes.size &&
            memcmp(block->bytes.data, bytes.data, bytes.size) == 0)
            return use(known, block);
    }
    return NULL;
}

static void drop_oldest(struct known_tables *known) {
    size_t oldest = 0;
    for (size_t i = 1; i < known->n_blocks; i++)
        if (known->blocks[i]->used < known->blocks[oldest]->used)
            oldest = i;
    known->n_tables -= known->blocks[oldest]->n_tables;
    free_block(known->blocks[oldest]);
    known->blocks[oldest] = known->blocks[--known->n_blocks];
}

static size_t count_owned(const struct wire_reader *reader) {
    size_t n = 0;
    for (size_t i = 0; i < TABLES_MAX; i++)
        n += reader->tables[i] && !(reader->borrowed >> i & 1);
    return n;
}

struct known_block *known_tables_keep(struct known_tables *known, struct span bytes,
                                      struct wire_reader *reader) {
    uint64_t id = siphash(known->key, bytes.data, bytes.size) & INT64_MAX;
    if (id == 0 || bytes.size > KNOWN_BYTES_MAX || reader->borrowed ||
        known_tables_by_id(known, id)) /* the number fits another block by chance */
        return NULL;
    struct known_block *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    buffer_put(&block->bytes, bytes.data, bytes.size);
    if (block->bytes.error) {
        free_block(block);
        return NULL;
    }
    block->id = id;
    block->age = -1;
    block->n_tables = count_owned(reader);
    while (known->n_blocks == KNOWN_BLOCKS_MAX ||
           (known->n_blocks && known->n_tables + block->n_tables > KNOWN_TABLES_MAX))
        drop_oldest(known);
    memcpy(block->tables, reader->tables, sizeof block->tables);
    wire_borrow_tables(reader, block->tables);
    known->n_tables += block->n_tables;
    known->blocks[known->n_blocks++] = block;
    return use(known, block);
}
