/* SPDX-License-Identifier: MIT */
/* Drawn images (draw.h) as files, in the formats and under the names of MNIST and CIFAR-10. */
#ifndef CHOKEPOINT_WORKLOADS_DATA_GENERATE_H
#define CHOKEPOINT_WORKLOADS_DATA_GENERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/data/bytes.h"

struct generate_options {
    bool textures; /* true: textures; false: digits */
    uint32_t n_train, n_test;
    uint64_t seed;
    const char *directory; /* made if missing */
};

/* Writes each file under a temporary name first. Calls show now and then with the number of images
 * done; NULL: never. Returns 0, or negative with ret_error filled. */
int generate_files(const struct generate_options *options, void (*show)(void *ctx, double done),
                   void *ctx, struct data_error *ret_error);

#endif
