/* SPDX-License-Identifier: MIT */
#include "workloads/network/plan.h"

#include <math.h>

#include "workloads/data/draw.h"

/* Computes the output's size and the number of weights from in_*. */
static void measure(const struct net_layer *l, struct net_part *p) {
    size_t inputs = (size_t)p->in_channels * p->in_rows * p->in_rows;
    switch (l->kind) {
    case NET_CONV:
        p->out_channels = l->outs;
        p->out_rows = p->in_rows + 2 * l->padding + 1 - l->kernel;
        p->fan_in = (size_t)p->in_channels * l->kernel * l->kernel;
        break;
    case NET_POOL:
        p->out_channels = p->in_channels;
        p->out_rows = p->in_rows / 2;
        return;
    case NET_FULL:
        p->out_channels = l->outs;
        p->out_rows = 1;
        p->fan_in = inputs;
        break;
    }
    p->n_biases = l->outs;
    p->n_weights = p->fan_in * l->outs;
}

size_t net_lay_out(const struct net_plan *plan, struct net_part ret[NET_LAYERS_MAX]) {
    size_t next = 0;
    uint32_t channels = plan->channels, rows = plan->rows;
    for (int i = 0; i < plan->n_layers; i++) {
        ret[i] = (struct net_part){.in_channels = channels, .in_rows = rows, .begin = next};
        measure(&plan->layers[i], &ret[i]);
        next += ret[i].n_weights + ret[i].n_biases;
        channels = ret[i].out_channels;
        rows = ret[i].out_rows;
    }
    return next;
}

size_t net_n_pixels(const struct net_plan *plan) {
    return (size_t)plan->channels * plan->rows * plan->rows;
}

void net_draw_weights(const struct net_plan *plan, uint64_t seed, float *ret) {
    struct net_part parts[NET_LAYERS_MAX];
    uint64_t stream = 0; /* one for each layer with weights */
    net_lay_out(plan, parts);
    for (int i = 0; i < plan->n_layers; i++) {
        const struct net_part *p = &parts[i];
        if (p->n_weights == 0)
            continue;
        struct draw_random random = draw_random_of(seed, stream++);
        double bound = 1 / sqrt((double)p->fan_in);
        for (size_t j = 0; j < p->n_weights + p->n_biases; j++)
            ret[p->begin + j] = (float)draw_uniform(&random, -bound, bound);
    }
}
