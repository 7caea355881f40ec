/* SPDX-License-Identifier: MIT */
/* The command line of a training program, and the differences between these programs. */
#ifndef CHOKEPOINT_WORKLOADS_NETWORK_OPTIONS_H
#define CHOKEPOINT_WORKLOADS_NETWORK_OPTIONS_H

#include <stdbool.h>

#include "workloads/common/plant.h"
#include "workloads/common/words.h"
#include "workloads/network/optimizer.h"
#include "workloads/network/plan.h"

struct network_program {
    const char *name;  /* "chokepoint-lenet" */
    const char *title; /* the net and its images, for the help */
    const struct net_plan *plan;
    double mean, deviation; /* subtracted from each byte of an image, and its divisor */
    enum optimizer_kind optimizer;
    double rate;
    uint64_t batch, epochs; /* default values */
};

struct network_options {
    bool async, spin, quiet;
    enum optimizer_kind optimizer;
    int threads;
    uint64_t batch;              /* images for a rank and iteration */
    uint64_t epochs, iterations; /* iterations of each rank; 0: the epochs determine them */
    uint64_t test_every;         /* in iterations; 0: at the end of each epoch */
    uint64_t seed;
    double rate, momentum;
    double target;       /* accuracy that ends the training, from 0 to 1; 0: none */
    double time_limit_s; /* 0: none */
    const char *data, *json, *weights;
    struct plants plants;
};

/* The strings of ret_options point into argv. 0, OPTIONS_HELP after the help was printed, or
 * -EINVAL with ret_error filled. */
int network_options_read(const struct network_program *program, int argc, char **argv,
                         struct network_options *ret_options, struct words_error *ret_error);

#endif
