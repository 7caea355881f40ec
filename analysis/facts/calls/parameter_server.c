/* SPDX-License-Identifier: MIT */
#include "analysis/facts/calls/parameter_server.h"

#include <math.h>

#define FREED_MAX 0.999 /* of an iteration: at most so much can be saved */

double parameter_server_async_per_s(const struct parameter_server *p) {
    double sum = 0;
    for (size_t i = 0; i < p->n; i++)
        sum += 1 / p->cycle_s[i];
    if (p->bytes > 0)
        sum = fmin(sum, p->server_bytes_s / p->bytes);
    return p->apply_s > 0 ? fmin(sum, 1 / p->apply_s) : sum;
}

double parameter_server_gain(const double *per_s, const double *freed, size_t n,
                             double limit_per_s) {
    double is = 0, would = 0;
    for (size_t i = 0; i < n; i++) {
        is += per_s[i];
        would += per_s[i] / (1 - fmin(freed[i], FREED_MAX));
    }
    would = fmin(would, fmax(limit_per_s, is));
    return would > 0 ? 1 - is / would : 0;
}
