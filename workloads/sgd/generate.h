/* SPDX-License-Identifier: MIT */
/*
 * Click-like records with a planted model, in libsvm text: 13 numeric slots with values, then 26
 * categorical slots, each hashed into a range of its own, with power-law popularity. The same
 * arguments give the same bytes, file by file. The best possible accuracy is known and returned.
 */
#ifndef CHOKEPOINT_WORKLOADS_GENERATE_H
#define CHOKEPOINT_WORKLOADS_GENERATE_H

#include <stdint.h>

#define GENERATE_MIN_FEATURES 1000

struct generate_options {
    uint32_t n_features;
    uint64_t n_examples; /* in all training files */
    int n_files;
    uint64_t n_test;
    uint64_t seed;
    const char *directory; /* created if missing */
};

struct generate_result {
    uint64_t bytes;
    double set_features;  /* mean over the examples */
    double base_rate;     /* share of the commoner label among the test examples */
    double best_accuracy; /* accuracy of the planted model on the test examples */
};

struct generate_error {
    char text[512];
};

/* Writes train-00.libsvm ... and test.libsvm, each under a temporary name first. */
int generate_files(const struct generate_options *options, struct generate_result *ret_result,
                   struct generate_error *ret_error);

#endif
