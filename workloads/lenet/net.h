/* SPDX-License-Identifier: MIT */
/*
 * LeNet-5 on 28 x 28 (Y. LeCun et al., Gradient-based learning applied to document recognition,
 * 1998; with ReLU, maximum pooling and softmax, as it is trained today):
 *
 *     conv 5x5 (1 -> 6, padded by 2), ReLU, pool 2x2, conv 5x5 (6 -> 16), ReLU, pool 2x2,
 *     full 400 -> 120, ReLU, full 120 -> 84, ReLU, full 84 -> 10, softmax, cross entropy
 *
 * Forward and backward through oneDNN, for one size of batch; net.c is the only file that knows it.
 * Weights and their gradient are one vector each in a fixed plain order (layer by layer, weights
 * [out][in][row][column] before biases), so that ranks can add them up; oneDNN's own layouts stay
 * inside.
 */
#ifndef CHOKEPOINT_WORKLOADS_LENET_NET_H
#define CHOKEPOINT_WORKLOADS_LENET_NET_H

#include <stddef.h>
#include <stdint.h>

#define NET_LAYERS 5
#define NET_ROWS 28
#define NET_PIXELS (NET_ROWS * NET_ROWS)
#define NET_CLASSES 10
#define NET_WEIGHTS 61706 /* 156 + 2416 + 48120 + 10164 + 850 */

struct net;

/* Where a layer's weights are in the vector. */
struct net_layer {
    const char *name;
    size_t begin, n_weights, n_biases, fan_in;
};
extern const struct net_layer net_layers[NET_LAYERS];

/* threads: of OpenMP, in this process from now on. Returns 0, or negative: -ENOMEM, -ENOTSUP
 * (oneDNN cannot do it here). */
int net_new(size_t batch, int threads, struct net **ret_net);
void net_free(struct net *net);

/* Random weights, the same for the same seed: uniform within 1 / sqrt(fan in). */
void net_draw_weights(uint64_t seed, float *ret_weights);

/* What a step of the computation took, told after it; NULL: nobody asks. */
typedef void net_tell(void *ctx, const char *name, size_t bytes, int64_t start_ns, int64_t end_ns);
void net_listen(struct net *net, net_tell *tell, void *ctx, int64_t (*now_ns)(void));

/*
 * images: batch x NET_PIXELS; labels: batch. forward returns the mean loss and the number of images
 * whose largest output is their label; rows beyond n (at most batch) count for nothing. backward
 * follows forward: the gradient of that mean loss. Both return 0 or negative (-EIO: oneDNN failed).
 */
int net_forward(struct net *net, const float *weights, const float *images, const uint8_t *labels,
                size_t n, double *ret_loss, size_t *ret_n_correct);
int net_backward(struct net *net, float *ret_gradient);

#endif
