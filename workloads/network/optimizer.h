/* SPDX-License-Identifier: MIT */
/*
 * From gradients to weights: stochastic gradient descent with momentum (v = m v + g, w -= rate v),
 * or Adam (D. Kingma and J. Ba, Adam: a method for stochastic optimization, 2015, algorithm 1) with
 * the momentum as its first decay and .999 as its second.
 */
#ifndef CHOKEPOINT_WORKLOADS_NETWORK_OPTIMIZER_H
#define CHOKEPOINT_WORKLOADS_NETWORK_OPTIMIZER_H

#include <stddef.h>
#include <stdint.h>

enum optimizer_kind { OPTIMIZER_SGD, OPTIMIZER_ADAM };

struct optimizer {
    enum optimizer_kind kind;
    double rate, momentum;
    size_t n;
    uint64_t steps;
    float *first, *second; /* moments of the gradient, and of its square */
};

const char *optimizer_name(enum optimizer_kind kind);

/* Returns 0 or -ENOMEM; call optimizer_release() in any case. */
int optimizer_init(struct optimizer *ret, enum optimizer_kind kind, double rate, double momentum,
                   size_t n);
void optimizer_release(struct optimizer *optimizer);

/* One step by gradient times scale. */
void optimizer_apply(struct optimizer *optimizer, const float *gradient, float scale,
                     float *weights);

#endif
