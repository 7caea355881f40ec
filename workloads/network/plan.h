/* SPDX-License-Identifier: MIT */
/*
 * A net as a table of layers. The table determines where each layer's weights lie in the one vector
 * that ranks add up, and the shapes of inputs and outputs. A ReLU follows every layer with weights
 * except the last; a pooling follows a convolution; a softmax follows the last layer.
 */
#ifndef CHOKEPOINT_WORKLOADS_NETWORK_PLAN_H
#define CHOKEPOINT_WORKLOADS_NETWORK_PLAN_H

#include <stddef.h>
#include <stdint.h>

#define NET_LAYERS_MAX 12

enum net_kind { NET_CONV, NET_POOL, NET_FULL };

struct net_layer {
    const char *name;
    enum net_kind kind;
    uint32_t outs;            /* CONV: channels; FULL: units */
    uint32_t kernel, padding; /* CONV: side of the window, and zeros around; POOL: always 2 x 2 */
};

struct net_plan {
    uint32_t rows, channels; /* an image is rows x rows */
    int n_layers;
    struct net_layer layers[NET_LAYERS_MAX];
};

struct net_part {
    uint32_t in_channels, in_rows, out_channels, out_rows; /* rows 1: a vector */
    size_t begin, n_weights, n_biases, fan_in;             /* begin: offset of the weights */
};

/* Fills in one part for each layer. Returns the number of weights and biases. */
size_t net_lay_out(const struct net_plan *plan, struct net_part ret_parts[NET_LAYERS_MAX]);

size_t net_n_pixels(const struct net_plan *plan);

/* Random weights, determined by the seed: uniform within 1 / sqrt(fan in). */
void net_draw_weights(const struct net_plan *plan, uint64_t seed, float *ret_weights);

#endif
