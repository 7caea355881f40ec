/* SPDX-License-Identifier: MIT */
#include "analysis/facts/iteration/iteration_gram.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/facts/series/stats.h"

#define BASE UINT64_C(0x9e3779b97f4a7c15)

uint64_t *gram_hashes(const struct loop_call *items, size_t n) {
    uint64_t *prefix = malloc((n + 1) * sizeof *prefix);
    if (!prefix)
        return NULL;
    prefix[0] = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t mixed = items[i].signature;
        prefix[i + 1] = prefix[i] * BASE + stats_random(&mixed);
    }
    return prefix;
}

uint64_t gram_power(size_t k) {
    uint64_t result = 1;
    while (k--)
        result *= BASE;
    return result;
}

int gram_slots_init(struct gram_slots *slots, size_t n) {
    size_t size = 16;
    while (size < 2 * n)
        size *= 2;
    *slots = (struct gram_slots){malloc(size * sizeof(uint64_t)), calloc(size, sizeof(uint32_t)),
                                 size - 1};
    return slots->hashes && slots->values ? 0 : -ENOMEM;
}

void gram_slots_release(struct gram_slots *slots) {
    free(slots->hashes);
    free(slots->values);
}

uint32_t *gram_slots_at(struct gram_slots *slots, uint64_t hash) {
    uint64_t mixed = hash;
    size_t at = (size_t)stats_random(&mixed) & slots->mask;
    while (slots->values[at] && slots->hashes[at] != hash)
        at = (at + 1) & slots->mask;
    slots->hashes[at] = hash;
    return &slots->values[at];
}
