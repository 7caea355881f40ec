/* SPDX-License-Identifier: MIT */
/*
 * Linear models on a batch in compressed rows: logistic regression (one weight a feature) and
 * softmax regression (one for each feature and class, side by side). The models differ only in
 * their width, so they share data paths and protocol. The functions are pure, and separate because
 * a profile shows them as operators: sparse x dense, sigmoid or softmax, transposed.
 *
 * `at` says where an entry's weights are: batch->local for vectors over the batch's own features
 * (w[at * width ...] belongs to feature batch->unique[at]), batch->index for a whole model.
 */
#ifndef CHOKEPOINT_WORKLOADS_LOGISTIC_H
#define CHOKEPOINT_WORKLOADS_LOGISTIC_H

#include "workloads/common/batch.h"

#define LOGISTIC_MAX_WIDTH 16

/* Z = X W, Z of n_rows x width. */
void logistic_margins(const struct batch *batch, const uint32_t *at, uint32_t width, const float *w,
                      float *ret_z);

/*
 * Z becomes the residual (p - label) / n_rows. p is the sigmoid (width 1, labels 0 and 1) or the
 * softmax over a row (labels 0 to width - 1). Returns the mean loss, the negative logarithm of the
 * label's probability, which overflows for no finite Z.
 */
double logistic_residuals(const struct batch *batch, uint32_t width, float *z);

/* G += scale * X' R: with scale 1 and R from logistic_residuals() this is the gradient of the mean
 * loss. */
void logistic_add_gradient(const struct batch *batch, const uint32_t *at, uint32_t width,
                           const float *residual, float scale, float *g);

struct logistic_score {
    double loss_sum;
    uint64_t n, n_correct;
};

/* Adds a batch whose Z is given, and overwrites Z. */
void logistic_score_add(struct logistic_score *score, const struct batch *batch, uint32_t width,
                        float *z);

#endif
