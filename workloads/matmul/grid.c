/* SPDX-License-Identifier: MIT */
#include "workloads/matmul/grid.h"

struct grid grid_make(uint32_t size, uint32_t block, int n_ranks) {
    return (struct grid){.size = size,
                         .block = block,
                         .blocks = (int)((size + (uint64_t)block - 1) / block),
                         .n_ranks = n_ranks};
}

uint32_t grid_even_block(uint32_t size, uint32_t most, int n_ranks) {
    uint64_t ranks = (uint64_t)n_ranks, rounds = (size + most * ranks - 1) / (most * ranks);
    uint64_t blocks = rounds * ranks, block = (size + blocks - 1) / blocks;
    bool even = (size + block - 1) / block == blocks;
    return even && block >= GRID_MIN_BLOCK && blocks <= GRID_MAX_BLOCKS ? (uint32_t)block : most;
}

int grid_owner(const struct grid *g, int i, int j) {
    return (i + j) % g->n_ranks;
}

uint32_t grid_begin(const struct grid *g, int i) {
    return (uint32_t)i * g->block;
}

uint32_t grid_length(const struct grid *g, int i) {
    uint32_t left = g->size - grid_begin(g, i);
    return left < g->block ? left : g->block;
}

int grid_first(const struct grid *g, int rank, int i) {
    return (rank + g->n_ranks - i % g->n_ranks) % g->n_ranks;
}

bool grid_needs(const struct grid *g, int rank, int i) {
    return grid_first(g, rank, i) < g->blocks;
}

static size_t in_row(const struct grid *g, int rank, int i) {
    int first = grid_first(g, rank, i);
    return first < g->blocks ? (size_t)((g->blocks - 1 - first) / g->n_ranks + 1) : 0;
}

size_t grid_count(const struct grid *g, int rank) {
    size_t n = 0;
    for (int i = 0; i < g->blocks; i++)
        n += in_row(g, rank, i);
    return n;
}

size_t grid_place(const struct grid *g, const size_t *row_start, int rank, int i, int j) {
    return row_start[i] + (size_t)((j - grid_first(g, rank, i)) / g->n_ranks);
}

void grid_row_starts(const struct grid *g, int rank, size_t *ret) {
    size_t n = 0;
    for (int i = 0; i < g->blocks; i++) {
        ret[i] = n;
        n += in_row(g, rank, i);
    }
}
