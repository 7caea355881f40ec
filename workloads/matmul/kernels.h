/* SPDX-License-Identifier: MIT */
/*
 * Whether the kernels that OpenBLAS has chosen leave the processor unused. A library older than the
 * processor falls back to kernels of 2004, a fifth as fast. This is reported and not changed: the
 * user chooses the library, and the product is profiled as it is.
 */
#ifndef CHOKEPOINT_WORKLOADS_MATMUL_KERNELS_H
#define CHOKEPOINT_WORKLOADS_MATMUL_KERNELS_H

/* Width of the processor's vectors; narrow: less than AVX2, or another architecture. */
enum kernels_width { KERNELS_NARROW, KERNELS_AVX2, KERNELS_AVX512 };

enum kernels_width kernels_width_of_processor(void);

/* A better OPENBLAS_CORETYPE than `chosen`, if that is a processor without AVX2 and this one has
 * it; NULL: no better one is known. */
const char *kernels_better(const char *chosen, enum kernels_width processor);

#endif
