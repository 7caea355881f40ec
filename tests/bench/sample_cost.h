/* SPDX-License-Identifier: MIT */
/* libproc2, a yardstick that may be missing. Either sample_cost_libproc2.c (if the library is
 * installed) or sample_cost_without.c is built.
 */
#ifndef CHOKEPOINT_TESTS_BENCH_SAMPLE_COST_H
#define CHOKEPOINT_TESTS_BENCH_SAMPLE_COST_H

void *libproc2_open(void); /* NULL: not available */
void libproc2_run(void *ctx);
void libproc2_close(void *ctx);

#endif
