/* SPDX-License-Identifier: MIT */
/*
 * Is the processor left unused by the kernels that OpenBLAS has chosen? A library older than the
 * processor falls back on those of 2004, a fifth as fast. It is said and not mended: what a library
 * does on a user's machine is the user's choice, and a product is what it is profiled as.
 */
#ifndef CHOKEPOINT_WORKLOADS_MATMUL_KERNELS_H
#define CHOKEPOINT_WORKLOADS_MATMUL_KERNELS_H

/* How wide a processor computes; narrow: less than AVX2, or not of this kind. */
enum kernels_width { KERNELS_NARROW, KERNELS_AVX2, KERNELS_AVX512 };

enum kernels_width kernels_width_of_processor(void);

/* A better OPENBLAS_CORETYPE than `chosen`, which is OpenBLAS's name of a processor without AVX2,
 * for a processor that has it; NULL: no better one is known. */
const char *kernels_better(const char *chosen, enum kernels_width processor);

#endif
