/* SPDX-License-Identifier: MIT */
/* The product of two blocks by OpenBLAS: blas.c is the only file that includes it. */
#ifndef CHOKEPOINT_WORKLOADS_MATMUL_BLAS_H
#define CHOKEPOINT_WORKLOADS_MATMUL_BLAS_H

#include <stdbool.h>
#include <stdint.h>

void blas_set_threads(int n);

/* The processor whose kernels OpenBLAS has chosen. A processor that is newer than the library gets
 * the kernels of a very old one: see kernels.h. */
const char *blas_kernels(void);

/* c = a b, or c += a b; row by row without gaps, a of m x k, b of k x n. */
void blas_multiply(bool wide, uint32_t m, uint32_t n, uint32_t k, const void *a, const void *b,
                   bool add, void *c);

#endif
