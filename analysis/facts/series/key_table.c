/* SPDX-License-Identifier: MIT */
#include "analysis/facts/series/key_table.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash(const struct key *key) {
    uint64_t h = UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < KEY_WORDS; i++) {
        h = (h ^ key->word[i]) * UINT64_C(0xbf58476d1ce4e5b9);
        h ^= h >> 29;
    }
    return h ^ h >> 32;
}

/* The slot of the key, or the free slot where it belongs. */
static uint32_t *key_slot(const struct key_table *table, const struct key *key) {
    size_t at = hash(key) & (table->n_slots - 1);
    while (table->slots[at] && memcmp(&table->keys[table->slots[at] - 1], key, sizeof *key) != 0)
        at = (at + 1) & (table->n_slots - 1);
    return &table->slots[at];
}

static int grow_table(struct key_table *table) {
    size_t capacity = table->capacity ? 2 * table->capacity : 64;
    struct key *keys = reallocarray(table->keys, capacity, sizeof *keys);
    if (!keys)
        return -1;
    table->keys = keys;
    uint32_t *slots = calloc(2 * capacity, sizeof *slots);
    if (!slots)
        return -1;
    free(table->slots);
    table->slots = slots;
    table->n_slots = 2 * capacity;
    table->capacity = capacity;
    for (size_t i = 0; i < table->n; i++)
        *key_slot(table, &table->keys[i]) = (uint32_t)i + 1;
    return 0;
}

uint32_t key_find(const struct key_table *table, struct key key) {
    uint32_t *slot = table->n ? key_slot(table, &key) : NULL;
    return slot && *slot ? *slot - 1 : KEY_NONE;
}

uint32_t key_add(struct key_table *table, struct key key) {
    if (table->n == table->capacity && grow_table(table) < 0)
        return KEY_NONE;
    uint32_t *slot = key_slot(table, &key);
    if (!*slot) {
        table->keys[table->n++] = key;
        *slot = (uint32_t)table->n;
    }
    return *slot - 1;
}

void key_table_release(struct key_table *table) {
    free(table->keys);
    free(table->slots);
    *table = (struct key_table){0};
}
