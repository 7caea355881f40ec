/* SPDX-License-Identifier: MIT */
/* OpenBLAS alone: one sgemm of N x N matrices on one thread. Prints "WALL_S CPU_S KERNELS" of the
 * call; the matrices have been touched before. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    int n = argc == 2 ? atoi(argv[1]) : 0;
    size_t elements = (size_t)n * (size_t)n;
    float *a = calloc(elements, sizeof *a), *b = calloc(elements, sizeof *b);
    float *c = calloc(elements, sizeof *c);
    if (n <= 0 || !a || !b || !c) {
        fprintf(stderr, "bench_matmul_gemm: expected a size that memory has room for\n");
        return 2;
    }
    for (size_t i = 0; i < elements; i++) {
        a[i] = (float)(i % 7);
        b[i] = (float)(i % 5);
        c[i] = 1;
    }
    openblas_set_num_threads(1);
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
    printf("%.6f %.6f %s\n", seconds(CLOCK_MONOTONIC) - wall,
           seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, openblas_get_corename());
    free(a);
    free(b);
    free(c);
    return 0;
}
