/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "tests/bench/sample_cost.h"

void *libproc2_open(void) {
    return NULL;
}
void libproc2_run(void *ctx) {
    (void)ctx;
}
void libproc2_close(void *ctx) {
    (void)ctx;
}
