/* SPDX-License-Identifier: MIT */
/*
 * A hash table from five words to a number: the n-th distinct key has number n. Keys come from
 * outside; the hash has no secret seed, but mixes every bit. The table is at most half full, so a
 * probe ends.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_SERIES_KEY_TABLE_H
#define CHOKEPOINT_ANALYSIS_FACTS_SERIES_KEY_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define KEY_WORDS 5
#define KEY_NONE UINT32_MAX

struct key {
    uint32_t word[KEY_WORDS];
};

struct key_table {
    struct key *keys; /* by number */
    uint32_t *slots;  /* number + 1; 0: free */
    size_t n, capacity, n_slots;
};

static inline struct key key_of_process(int host, int64_t pid) {
    return (struct key){{(uint32_t)host, (uint32_t)pid, (uint32_t)((uint64_t)pid >> 32)}};
}

/* The number of a key, or KEY_NONE. */
uint32_t key_find(const struct key_table *table, struct key key);
/* The number of a key, which is added if it is new (with the old n as its number). Without memory,
 * KEY_NONE.
 */
uint32_t key_add(struct key_table *table, struct key key);
void key_table_release(struct key_table *table);

#endif
