/* SPDX-License-Identifier: MIT */
/* The command line of chokepoint-sgd. */
#ifndef CHOKEPOINT_WORKLOADS_SGD_OPTIONS_H
#define CHOKEPOINT_WORKLOADS_SGD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/common/plant.h"
#include "workloads/common/words.h"
#include "workloads/sgd/generate.h"

enum sgd_verb { SGD_TRAIN, SGD_GENERATE };
enum sgd_mode { SGD_SYNC, SGD_ASYNC, SGD_SINGLE };

struct sgd_options {
    enum sgd_verb verb;
    enum sgd_mode mode;
    bool softmax; /* --model */
    /* --transfer: these are sent whole; else only the batch's features are */
    bool dense_weights, dense_gradients;
    bool allreduce;  /* --exchange */
    bool apart;      /* --server: rank 0 only serves */
    bool prefetch;   /* async dense: the next model is pulled while a gradient is pushed */
    uint64_t backup; /* sync: an iteration does not wait for its last so many gradients */
    bool spin, quiet;
    bool direct;         /* training data bypass the page cache */
    bool preload;        /* --preload: training data are read once */
    uint32_t n_features; /* softmax: 0, the images determine it */
    uint64_t batch;      /* examples for a rank and iteration */
    /* One of the three, the others 0: for sync: iterations of every rank; for async: times the
     * ranks, updates of the model */
    uint64_t iterations, examples, epochs;
    uint64_t test_every; /* in iterations; 0: at the end only */
    const char *data, *test_data;
    double rate, decay;  /* rate / (1 + decay * iteration) */
    double time_limit_s; /* 0: none */
    uint64_t seed;
    const char *json, *weights;
    const char *checkpoint;    /* directory; NULL: none */
    uint64_t checkpoint_every; /* in iterations; 0: at the end only */
    bool resume;
    struct plants plants; /* from the command line; each trainer has its own */
    struct generate_options generate;
};

extern const char *const sgd_mode_names[];

/* "sparse", "dense-down" or "dense" */
const char *sgd_transfer_name(const struct sgd_options *options);

/* The strings of ret_options point into argv. 0, OPTIONS_HELP after the help was printed, or
 * -EINVAL with ret_error filled. */
int sgd_options_read(int argc, char **argv, struct sgd_options *ret_options,
                     struct words_error *ret_error);

#endif
