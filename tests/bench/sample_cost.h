/* SPDX-License-Identifier: MIT */
/* The yardstick that may be missing: libproc2. One of sample_cost_libproc2.c (where the library is
 * installed) and sample_cost_without.c is built. */
#ifndef CHOKEPOINT_TESTS_BENCH_SAMPLE_COST_H
#define CHOKEPOINT_TESTS_BENCH_SAMPLE_COST_H

void *libproc2_open(void); /* NULL: there is none */
void libproc2_run(void *ctx);
void libproc2_close(void *ctx);

#endif
