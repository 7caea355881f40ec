/* SPDX-License-Identifier: MIT */
#include "workloads/matmul/blas.h"

#include <cblas.h>

void blas_set_threads(int n) {
    openblas_set_num_threads(n);
}

const char *blas_kernels(void) {
    return openblas_get_corename();
}

void blas_multiply(bool wide, uint32_t m, uint32_t n, uint32_t k, const void *a, const void *b,
                   bool add, void *c) {
    if (wide)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, 1, a, (int)k,
                    b, (int)n, add, c, (int)n);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, 1, a, (int)k,
                    b, (int)n, add, c, (int)n);
}
