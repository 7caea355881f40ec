/* SPDX-License-Identifier: MIT */
/*
 * Where blocks live. Block (i, j) of A, of B and of C is at rank (i + j) mod N, as in the reference
 * program R1: A(i,k) and B(k,i), whose product's trace belongs to the trace of C, are then always
 * at the same rank. Pure arithmetic, the same everywhere, so that no rank has to be told.
 */
#ifndef CHOKEPOINT_WORKLOADS_MATMUL_GRID_H
#define CHOKEPOINT_WORKLOADS_MATMUL_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRID_MAX_BLOCKS 4096 /* a side */
#define GRID_MIN_BLOCK 64    /* smaller products are slow, and messages short */

struct grid {
    uint32_t size, block; /* rows of the matrix, of a block (the last one is what is left) */
    int blocks;           /* a side */
    int n_ranks;
};

/* blocks is what size and block make it. */
struct grid grid_make(uint32_t size, uint32_t block, int n_ranks);

/* The block, of at most `most` rows and at least GRID_MIN_BLOCK, with which all ranks have as many:
 * blocks a side are a multiple of the ranks. `most` where none is. */
uint32_t grid_even_block(uint32_t size, uint32_t most, int n_ranks);

int grid_owner(const struct grid *grid, int i, int j);
uint32_t grid_begin(const struct grid *grid, int i);  /* first row of block row i */
uint32_t grid_length(const struct grid *grid, int i); /* and how many */

/* The columns of block row i at a rank are first, first + n_ranks, ... below blocks. */
int grid_first(const struct grid *grid, int rank, int i);

/* Whether a rank works on block row i at all; likewise on block column i. */
bool grid_needs(const struct grid *grid, int rank, int i);

/* Blocks at a rank; where block (i, j), which is at that rank, is among them, row by row. */
size_t grid_count(const struct grid *grid, int rank);
size_t grid_place(const struct grid *grid, const size_t *row_start, int rank, int i, int j);
/* row_start of blocks entries. */
void grid_row_starts(const struct grid *grid, int rank, size_t *ret_row_start);

#endif
