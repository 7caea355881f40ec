/* SPDX-License-Identifier: MIT */
/*
 * The planted model and examples drawn from it. The arithmetic is in integers except for the
 * label's coin, so that other compilers and libraries draw the same features. Each file has its own
 * random stream.
 */
#ifndef CHOKEPOINT_WORKLOADS_PLANTED_H
#define CHOKEPOINT_WORKLOADS_PLANTED_H

#include <stdbool.h>
#include <stdint.h>

#define N_NUMERIC 13
#define N_CATEGORICAL 26
#define N_SLOTS (N_NUMERIC + N_CATEGORICAL)

struct planted {
    uint32_t first[N_CATEGORICAL]; /* index of the slot's first feature, from 0 */
    uint32_t size[N_CATEGORICAL];
    uint64_t seed;
    double offset, scale; /* logit = (raw - offset) * scale */
};

struct planted_example {
    int n;
    uint32_t index[N_SLOTS];     /* ascending, from 0 */
    int16_t hundredths[N_SLOTS]; /* value x 100 */
    double logit;
    bool label;
};

/* n_features is at least GENERATE_MIN_FEATURES. */
void planted_init(struct planted *ret_model, uint32_t n_features, uint64_t seed);

/* A stream of examples; each file needs its own number. */
uint64_t planted_stream(const struct planted *model, uint64_t number);
void planted_draw(const struct planted *model, uint64_t *stream,
                  struct planted_example *ret_example);

#endif
