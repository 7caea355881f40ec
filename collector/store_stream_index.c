/* SPDX-License-Identifier: MIT */
/*
 * Finds streams by their row and by the sender's name for them. Thousands of hosts push each
 * second; a walk over all streams for each push would take most of the time. Open addressing;
 * streams are only added, or all forgotten.
 */
#include "collector/store_private.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

static void put(struct stream_index *index, uint32_t *slots, uint64_t key, size_t item) {
    size_t i = (size_t)mix(key);
    while (slots[i & (index->n_slots - 1)])
        i++;
    slots[i & (index->n_slots - 1)] = (uint32_t)item + 1;
}

static void put_both(struct store *store, size_t item) {
    struct stream_index *index = &store->index;
    put(index, index->by_row, (uint64_t)store->streams[item]->id, item);
    put(index, index->by_name, store->streams[item]->stream_id, item);
}

static int grow_index(struct store *store) {
    struct stream_index *index = &store->index;
    size_t n = index->n_slots ? 2 * index->n_slots : 64;
    uint32_t *by_row = calloc(n, sizeof *by_row), *by_name = calloc(n, sizeof *by_name);
    if (!by_row || !by_name) {
        free(by_row);
        free(by_name);
        return -ENOMEM;
    }
    stream_index_clear(index);
    *index = (struct stream_index){by_row, by_name, n};
    for (size_t i = 0; i < store->n_streams; i++)
        put_both(store, i);
    return 0;
}

int stream_index_reserve(struct store *store) {
    return 2 * (store->n_streams + 1) > store->index.n_slots ? grow_index(store) : 0;
}

void stream_index_add(struct store *store) {
    put_both(store, store->n_streams - 1);
}

void stream_index_clear(struct stream_index *index) {
    free(index->by_row);
    free(index->by_name);
    *index = (struct stream_index){0};
}

struct stream *stream_index_next(const struct store *store, const uint32_t *slots, uint64_t key,
                                 size_t *at) {
    if (!store->index.n_slots)
        return NULL;
    uint32_t slot = slots[((size_t)mix(key) + (*at)++) & (store->index.n_slots - 1)];
    return slot ? store->streams[slot - 1] : NULL;
}
