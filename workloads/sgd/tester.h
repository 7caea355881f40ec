/* SPDX-License-Identifier: MIT */
/*
 * Rank 0's test of the model on held-out examples: test.libsvm or --test-data, which each test
 * reads again, as R1's programs did, or the test images.
 */
#ifndef CHOKEPOINT_WORKLOADS_SGD_TESTER_H
#define CHOKEPOINT_WORKLOADS_SGD_TESTER_H

#include "workloads/sgd/logistic.h"
#include "workloads/sgd/source.h"

struct tester {
    bool is_on; /* false: there are no test data */
    uint32_t n_features, width;
    char path[4096]; /* text */
    struct images images;
    struct batch batch;
    float *z;
};

/* Zeroed memory may be released. Returns 0, or negative with ret_error filled. */
int tester_open(struct tester *ret_tester, const struct sgd_options *options, uint32_t n_features,
                uint32_t width, struct source_error *ret_error);
void tester_release(struct tester *tester);

/* Scores a whole model. Returns 0, or negative with ret_error filled. */
int tester_score(struct tester *tester, const float *model, struct logistic_score *ret_score,
                 struct source_error *ret_error);

#endif
