/* SPDX-License-Identifier: MIT */
/* The command line of chokepoint-matmul. */
#ifndef CHOKEPOINT_WORKLOADS_MATMUL_OPTIONS_H
#define CHOKEPOINT_WORKLOADS_MATMUL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/common/plant.h"
#include "workloads/common/words.h"

struct matmul_options {
    bool trace_only, wide, check, spin, quiet, block_is_given;
    uint32_t size, block;
    int threads;
    uint64_t repeat, seed;
    double time_limit_s; /* 0: none */
    const char *json;
    struct plants plants;
};

/* The strings of ret_options point into argv. 0, OPTIONS_HELP after the help was printed, or
 * -EINVAL with ret_error filled. */
int matmul_options_read(int argc, char **argv, struct matmul_options *ret_options,
                        struct words_error *ret_error);

#endif
