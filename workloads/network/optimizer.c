/* SPDX-License-Identifier: MIT */
#include "workloads/network/optimizer.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define SECOND_DECAY .999
#define EPSILON 1e-8

const char *optimizer_name(enum optimizer_kind kind) {
    return kind == OPTIMIZER_ADAM ? "adam" : "sgd";
}

int optimizer_init(struct optimizer *ret, enum optimizer_kind kind, double rate, double momentum,
                   size_t n) {
    bool adam = kind == OPTIMIZER_ADAM;
    *ret = (struct optimizer){.kind = kind, .rate = rate, .momentum = momentum, .n = n};
    ret->first = calloc(n, sizeof *ret->first);
    ret->second = adam ? calloc(n, sizeof *ret->second) : NULL;
    return ret->first && (ret->second || !adam) ? 0 : -ENOMEM;
}

void optimizer_release(struct optimizer *o) {
    free(o->first);
    free(o->second);
}

static void apply_sgd(struct optimizer *o, const float *restrict gradient, float scale,
                      float *restrict weights) {
    float rate = (float)o->rate, momentum = (float)o->momentum, *restrict velocity = o->first;
    for (size_t i = 0; i < o->n; i++) {
        velocity[i] = momentum * velocity[i] + scale * gradient[i];
        weights[i] -= rate * velocity[i];
    }
}

/* Rate and epsilon include the corrections of both means, which start at 0, as in section 2 of the
 * paper. */
static void apply_adam(struct optimizer *o, const float *restrict gradient, float scale,
                       float *restrict weights) {
    double t = (double)o->steps, correction = sqrt(1 - pow(SECOND_DECAY, t));
    float rate = (float)(o->rate * correction / (1 - pow(o->momentum, t)));
    float epsilon = (float)(EPSILON * correction);
    float keep = (float)o->momentum, keep_square = (float)SECOND_DECAY;
    float *restrict first = o->first, *restrict second = o->second;
    for (size_t i = 0; i < o->n; i++) {
        float g = scale * gradient[i];
        first[i] = keep * first[i] + (1 - keep) * g;
        second[i] = keep_square * second[i] + (1 - keep_square) * g * g;
        weights[i] -= rate * first[i] / (sqrtf(second[i]) + epsilon);
    }
}

void optimizer_apply(struct optimizer *o, const float *gradient, float scale, float *weights) {
    o->steps++;
    if (o->kind == OPTIMIZER_ADAM)
        apply_adam(o, gradient, scale, weights);
    else
        apply_sgd(o, gradient, scale, weights);
}
