/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/logistic.h"

#include <math.h>
#include <string.h>

void logistic_margins(const struct batch *b, const float *w, float *ret_z) {
    for (size_t row = 0; row < b->n_rows; row++) {
        float z = 0;
        for (uint32_t i = b->row_start[row]; i < b->row_start[row + 1]; i++)
            z += w[b->local[i]] * b->value[i];
        ret_z[row] = z;
    }
}

/* The loss of one example: log(1 + exp(-m)) with the margin m = z for label 1, -z for label 0. */
static double loss(float z, float label) {
    double m = label > 0 ? z : -z;
    return m > 0 ? log1p(exp(-m)) : -m + log1p(exp(m));
}

double logistic_residuals(const struct batch *b, float *z) {
    double sum = 0;
    float scale = b->n_rows ? 1.0f / (float)b->n_rows : 0;
    for (size_t row = 0; row < b->n_rows; row++) {
        sum += loss(z[row], b->label[row]);
        float p = 1 / (1 + expf(-z[row]));
        z[row] = (p - b->label[row]) * scale;
    }
    return b->n_rows ? sum / (double)b->n_rows : 0;
}

void logistic_gradient(const struct batch *b, const float *residual, float *ret_g) {
    memset(ret_g, 0, b->n_unique * sizeof *ret_g);
    for (size_t row = 0; row < b->n_rows; row++)
        for (uint32_t i = b->row_start[row]; i < b->row_start[row + 1]; i++)
            ret_g[b->local[i]] += residual[row] * b->value[i];
}

void logistic_score_add(struct logistic_score *score, const struct batch *b, const float *w) {
    for (size_t row = 0; row < b->n_rows; row++) {
        float z = 0;
        for (uint32_t i = b->row_start[row]; i < b->row_start[row + 1]; i++)
            z += w[b->index[i]] * b->value[i];
        score->loss_sum += loss(z, b->label[row]);
        score->n_correct += (z > 0) == (b->label[row] > 0);
    }
    score->n += b->n_rows;
}
