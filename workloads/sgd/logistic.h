/* SPDX-License-Identifier: MIT */
/*
 * Logistic regression on a compact batch (common/batch.h). Weights and gradients are vectors over
 * the batch's own features: w[i] belongs to feature batch->unique[i]. Pure functions; the four
 * steps are separate because they are the operators of a profile: sparse x dense, sigmoid,
 * transposed, apply.
 */
#ifndef CHOKEPOINT_WORKLOADS_LOGISTIC_H
#define CHOKEPOINT_WORKLOADS_LOGISTIC_H

#include "workloads/common/batch.h"

/* z = X w, z of n_rows. */
void logistic_margins(const struct batch *batch, const float *w, float *ret_z);

/*
 * z becomes the residual (sigmoid(z) - label) / n_rows. Returns the mean loss, log(1 +
 * exp(-margin)), computed so that it overflows for no finite z.
 */
double logistic_residuals(const struct batch *batch, float *z);

/* g = X' r: with r from logistic_residuals() the gradient of the mean loss. g of n_unique. */
void logistic_gradient(const struct batch *batch, const float *residual, float *ret_g);

struct logistic_score {
    double loss_sum;
    uint64_t n, n_correct;
};

/* Adds a batch (not compacted) under the whole model w of all features. */
void logistic_score_add(struct logistic_score *score, const struct batch *batch, const float *w);

#endif
