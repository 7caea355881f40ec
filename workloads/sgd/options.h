/* SPDX-License-Identifier: MIT */
/* The command line of chokepoint-sgd. */
#ifndef CHOKEPOINT_WORKLOADS_SGD_OPTIONS_H
#define CHOKEPOINT_WORKLOADS_SGD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/common/plant.h"
#include "workloads/sgd/generate.h"

enum options_verb { OPTIONS_TRAIN, OPTIONS_GENERATE, OPTIONS_HELP };

struct sgd_options {
    enum options_verb verb;
    bool async, dense, spin, quiet;
    bool direct; /* training data are read past the page cache */
    uint32_t n_features;
    uint64_t batch;      /* examples a rank and iteration */
    uint64_t iterations; /* sync: of every rank; async: times the ranks, updates of the model */
    uint64_t test_every; /* iterations; 0: at the end only */
    const char *data, *test_data;
    double rate;
    double time_limit_s; /* 0: none */
    uint64_t seed;
    const char *json, *weights;
    struct plants plants; /* as asked for; each trainer has its own */
    struct generate_options generate;
};

struct options_error {
    char text[384];
};

extern const char options_help[];

/* The strings of ret_options point into argv. Returns 0 or -EINVAL with ret_error filled. */
int options_parse(int argc, char **argv, struct sgd_options *ret_options,
                  struct options_error *ret_error);

#endif
