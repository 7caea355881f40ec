/* SPDX-License-Identifier: MIT */
/* Hashes of so many calls in a row, each in no time, and a table from hashes to numbers. */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_GRAM_H
#define CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_GRAM_H

#include "analysis/facts/iteration/iteration_loop.h"

/* prefix[n + 1]: the hash of calls [i - k, i) is prefix[i] - prefix[i - k] * power(k), modulo 2^64.
 * The caller's to free; NULL: no memory. */
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

/* Room for n different hashes. -ENOMEM; to be released all the same. */
int gram_slots_init(struct gram_slots *slots, size_t n);
void gram_slots_release(struct gram_slots *slots);
/* The number of that hash, 0 until it is set. */
uint32_t *gram_slots_at(struct gram_slots *slots, uint64_t hash);

#endif
