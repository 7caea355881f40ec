/* SPDX-License-Identifier: MIT */
/* The command line of chokepoint-lenet. */
#ifndef CHOKEPOINT_WORKLOADS_LENET_OPTIONS_H
#define CHOKEPOINT_WORKLOADS_LENET_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/common/words.h"

struct lenet_options {
    bool help, async, spin, quiet;
    int threads;
    uint64_t batch;              /* images a rank and iteration */
    uint64_t epochs, iterations; /* iterations of each rank; 0: what the epochs make */
    uint64_t test_every;         /* iterations; 0: at the end of each epoch */
    uint64_t seed;
    double rate, momentum, time_limit_s; /* time 0: no limit */
    const char *data, *json, *weights;
    struct plants plants;
};

extern const char lenet_help[];

/* The strings of ret_options point into argv. Returns 0 or -EINVAL with ret_error filled. */
int lenet_options_parse(int argc, char **argv, struct lenet_options *ret_options,
                        struct words_error *ret_error);

#endif
