/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/logistic.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define CLASSES 10 /* the width for which loops are unrolled */

static void margins_of_one(const struct batch *b, const uint32_t *at, const float *w,
                           float *ret_z) {
    for (size_t row = 0; row < b->n_rows; row++) {
        float z = 0;
        for (uint32_t i = b->row_start[row]; i < b->row_start[row + 1]; i++)
            z += w[at[i]] * b->value[i];
        ret_z[row] = z;
    }
}

static inline void margins_of_many(const struct batch *b, const uint32_t *at, uint32_t width,
                                   const float *w, float *ret_z) {
    for (size_t row = 0; row < b->n_rows; row++) {
        float z[LOGISTIC_MAX_WIDTH] = {0};
        for (uint32_t i = b->row_start[row]; i < b->row_start[row + 1]; i++)
            for (uint32_t k = 0; k < width; k++)
                z[k] += w[(size_t)at[i] * width + k] * b->value[i];
        memcpy(ret_z + row * width, z, width * sizeof *z);
    }
}

void logistic_margins(const struct batch *b, const uint32_t *at, uint32_t width, const float *w,
                      float *ret_z) {
    if (width == 1)
        margins_of_one(b, at, w, ret_z);
    else if (width == CLASSES)
        margins_of_many(b, at, CLASSES, w, ret_z);
    else
        margins_of_many(b, at, width, w, ret_z);
}

/* The loss of one example: log(1 + exp(-m)) with the margin m = z for label 1, -z for label 0. */
static double sigmoid_loss(float z, float label) {
    double m = label > 0 ? z : -z;
    return m > 0 ? log1p(exp(-m)) : -m + log1p(exp(m));
}

/* Turns Z of a row into probabilities; returns the loss. Subtracts the largest first. */
static double softmax_row(uint32_t width, float label, float *z) {
    float largest = z[0], at_label = z[(uint32_t)label];
    double sum = 0;
    for (uint32_t k = 1; k < width; k++)
        largest = z[k] > largest ? z[k] : largest;
    for (uint32_t k = 0; k < width; k++)
        sum += z[k] = expf(z[k] - largest);
    for (uint32_t k = 0; k < width; k++)
        z[k] /= (float)sum;
    return log(sum) - (at_label - largest);
}

double logistic_residuals(const struct batch *b, uint32_t width, float *z) {
    double sum = 0;
    float scale = b->n_rows ? 1.0f / (float)b->n_rows : 0;
    for (size_t row = 0; row < b->n_rows; row++, z += width) {
        if (width == 1) {
            sum += sigmoid_loss(*z, b->label[row]);
            *z = (1 / (1 + expf(-*z)) - b->label[row]) * scale;
            continue;
        }
        sum += softmax_row(width, b->label[row], z);
        for (uint32_t k = 0; k < width; k++)
            z[k] = (z[k] - (k == (uint32_t)b->label[row])) * scale;
    }
    return b->n_rows ? sum / (double)b->n_rows : 0;
}

static void add_one(const struct batch *b, const uint32_t *at, const float *residual, float scale,
                    float *g) {
    for (size_t row = 0; row < b->n_rows; row++)
        for (uint32_t i = b->row_start[row]; i < b->row_start[row + 1]; i++)
            g[at[i]] += scale * residual[row] * b->value[i];
}

static inline void add_many(const struct batch *b, const uint32_t *at, uint32_t width,
                            const float *residual, float scale, float *g) {
    for (size_t row = 0; row < b->n_rows; row++)
        for (uint32_t i = b->row_start[row]; i < b->row_start[row + 1]; i++)
            for (uint32_t k = 0; k < width; k++)
                g[(size_t)at[i] * width + k] += scale * residual[row * width + k] * b->value[i];
}

void logistic_add_gradient(const struct batch *b, const uint32_t *at, uint32_t width,
                           const float *residual, float scale, float *g) {
    if (width == 1)
        add_one(b, at, residual, scale, g);
    else if (width == CLASSES)
        add_many(b, at, CLASSES, residual, scale, g);
    else
        add_many(b, at, width, residual, scale, g);
}

static bool is_right(uint32_t width, const float *z, float label) {
    uint32_t best = 0;
    if (width == 1)
        return (*z > 0) == (label > 0);
    for (uint32_t k = 1; k < width; k++)
        best = z[k] > z[best] ? k : best;
    return best == (uint32_t)label;
}

void logistic_score_add(struct logistic_score *score, const struct batch *b, uint32_t width,
                        float *z) {
    for (size_t row = 0; row < b->n_rows; row++)
        score->n_correct += is_right(width, z + row * width, b->label[row]);
    score->loss_sum += logistic_residuals(b, width, z) * (double)b->n_rows;
    score->n += b->n_rows;
}
