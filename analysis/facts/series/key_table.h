/* SPDX-License-Identifier: MIT */
/*
 * A hash table from five words to a number: the n-th distinct key has number n. Keys come from
 * outside, so the hash is seeded by nothing secret but mixes every bit; a probe never runs longer
 * than the table, which is at most half full.
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

/* The number of a key that is there, or KEY_NONE. */
uint32_t key_find(const struct key_table *table, struct key key);
/* The number of a key, added if it is new (its number is then the old n). -ENOMEM gives KEY_NONE.
 */
uint32_t key_add(struct key_table *table, struct key key);
void key_table_release(struct key_table *table);

#endif
