/* SPDX-License-Identifier: MIT */
/*
 * Blocks of numbers, 32 or 64 bits wide, row by row without gaps. A hash of its place in the whole
 * matrix makes an element a whole number from -8 to 7. So any rank can make any block. Sums of
 * products are exact in any order (32 bits: up to 64 n < 2^24), so that one rank and many agree to
 * the last bit, and a check needs no tolerance.
 */
#ifndef CHOKEPOINT_WORKLOADS_MATMUL_ELEMENT_H
#define CHOKEPOINT_WORKLOADS_MATMUL_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELEMENT_MAX_SIZE_FLOAT 262143   /* rows for which 32-bit sums are exact */
#define ELEMENT_MAX_SIZE_DOUBLE 2000000 /* rows for which a check in 64 bits is exact */

/* The matrix: A and B of one seed are different. */
int element_at(uint64_t seed, int matrix, uint32_t row, uint32_t column);

void element_fill(void *block, bool wide, uint64_t seed, int matrix, uint32_t row, uint32_t column,
                  uint32_t rows, uint32_t columns);

/* Trace of a b, a of rows x columns, b of columns x rows. */
double element_trace_of_product(const void *a, const void *b, bool wide, uint32_t rows,
                                uint32_t columns);

/* Sum of the diagonal of a square block. */
double element_trace(const void *block, bool wide, uint32_t rows);

/* y += block x */
void element_times_vector(const void *block, bool wide, uint32_t rows, uint32_t columns,
                          const double *x, double *y);

#endif
