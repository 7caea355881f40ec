/* SPDX-License-Identifier: MIT */
/*
 * Places of blocks. Block (i, j) of A, of B and of C is at rank (i + j) mod N, as in the reference
 * program R1. So A(i,k) and B(k,i), whose product's trace is part of the trace of C, are always at
 * the same rank. Every rank computes the same places, without messages.
 */
#ifndef CHOKEPOINT_WORKLOADS_MATMUL_GRID_H
#define CHOKEPOINT_WORKLOADS_MATMUL_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRID_MAX_BLOCKS 4096 /* blocks on a side */
#define GRID_MIN_BLOCK 64    /* smaller products are slow, and their messages short */

struct grid {
    uint32_t size, block; /* rows of the matrix and of a block (the last block may have fewer) */
    int blocks;           /* blocks on a side */
    int n_ranks;
};

/* Size and block determine blocks. */
struct grid grid_make(uint32_t size, uint32_t block, int n_ranks);

/* The largest block of at most `most` and at least GRID_MIN_BLOCK rows with which all ranks have
 * equally many blocks: blocks on a side are a multiple of the ranks. `most` if there is none. */
uint32_t grid_even_block(uint32_t size, uint32_t most, int n_ranks);

int grid_owner(const struct grid *grid, int i, int j);
uint32_t grid_begin(const struct grid *grid, int i);  /* first row of block row i */
uint32_t grid_length(const struct grid *grid, int i); /* number of its rows */

/* The columns of block row i at a rank are first, first + n_ranks, ... below blocks. */
int grid_first(const struct grid *grid, int rank, int i);

/* Whether a rank has blocks in block row i; likewise for block column i. */
bool grid_needs(const struct grid *grid, int rank, int i);

/* Number of blocks at a rank; index of block (i, j), which is at that rank, among them, row by
 * row. */
size_t grid_count(const struct grid *grid, int rank);
size_t grid_place(const struct grid *grid, const size_t *row_start, int rank, int i, int j);
/* row_start has room for blocks entries. */
void grid_row_starts(const struct grid *grid, int rank, size_t *ret_row_start);

#endif
