/* SPDX-License-Identifier: MIT */
/*
 * A mini-batch of sparse examples in compressed rows, and its compact form: its features, ascending
 * and without repetition, and every entry's position among them. So a worker computes on vectors as
 * long as the batch's own features, whatever the size of the model.
 */
#ifndef CHOKEPOINT_WORKLOADS_BATCH_H
#define CHOKEPOINT_WORKLOADS_BATCH_H

#include <stddef.h>
#include <stdint.h>

struct batch {
    size_t n_rows, n_entries;
    float *label;        /* n_rows: 0 or 1 */
    uint32_t *row_start; /* n_rows + 1 */
    uint32_t *index;     /* n_entries: features, from 0 */
    float *value;        /* n_entries */
    /* after batch_compact() */
    size_t n_unique;
    uint32_t *unique; /* n_unique: features, strictly ascending */
    uint32_t *local;  /* n_entries: position in unique */
    /* private */
    size_t rows_capacity, entries_capacity, keys_capacity;
    uint64_t *keys, *keys_scratch;
};

/* Zeroed memory is an empty batch. */
void batch_release(struct batch *batch);
void batch_clear(struct batch *batch);

/* Makes room for one more row of up to n_entries entries. Returns 0, -ENOMEM or -EFBIG (2^32
 * entries). */
int batch_reserve(struct batch *batch, size_t n_entries);

/* Fills unique and local. Every index must be below n_features. Returns 0 or -ENOMEM. */
int batch_compact(struct batch *batch, uint32_t n_features);

#endif
