/* SPDX-License-Identifier: MIT */
/* Hashes of k calls in a row, each computed in constant time, and a table from hashes to numbers.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_GRAM_H
#define CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_GRAM_H

#include "analysis/facts/iteration/iteration_loop.h"

/* Returns prefix[n + 1]: the hash of calls [i - k, i) is prefix[i] - prefix[i - k] * power(k),
 * modulo 2^64. The caller frees it; NULL without memory.
 */
uint64_t *gram_hashes(const struct loop_call *items, size_t n);
uint64_t gram_power(size_t k);

/* The hash of the k calls that end before `end`; factor: gram_power(k). */
static inline uint64_t gram_at(const uint64_t *prefix, size_t end, size_t k, uint64_t factor) {
    return prefix[end] - prefix[end - k] * factor;
}

struct gram_slots {
    uint64_t *hashes;
    uint32_t *values; /* 0: free */
    size_t mask;
};

/* Makes room for n different hashes. -ENOMEM; must be released even then. */
int gram_slots_init(struct gram_slots *slots, size_t n);
void gram_slots_release(struct gram_slots *slots);
/* A pointer to the number of that hash, which is 0 until set. */
uint32_t *gram_slots_at(struct gram_slots *slots, uint64_t hash);

#endif
