/* SPDX-License-Identifier: MIT */
/*
 * A net forward and backward through oneDNN, for one batch size; only net*.c include it. Weights
 * and their gradient are one vector each in the plain order of plan.h (layer by layer, weights
 * [out][in][row][column] before biases), so that ranks can add them up; oneDNN's own layouts stay
 * inside.
 */
#ifndef CHOKEPOINT_WORKLOADS_NETWORK_NET_H
#define CHOKEPOINT_WORKLOADS_NETWORK_NET_H

#include <stddef.h>
#include <stdint.h>

#include "workloads/network/plan.h"

struct net;

/* threads: of OpenMP, for this process from now on. Returns 0, or negative: -ENOMEM, -ENOTSUP
 * (oneDNN cannot do it here). */
int net_new(const struct net_plan *plan, size_t batch, int threads, struct net **ret_net);
void net_free(struct net *net);

/* Called after each step of the computation with its duration; NULL: not called. */
typedef void net_tell(void *ctx, const char *name, size_t bytes, int64_t start_ns, int64_t end_ns);
void net_listen(struct net *net, net_tell *tell, void *ctx, int64_t (*now_ns)(void));

/*
 * images: batch x pixels; labels: batch. forward returns the mean loss (cross entropy) and the
 * number of images whose largest output is their label; rows beyond n (at most batch) do not count.
 * backward must follow forward: the gradient of that mean loss. Both return 0 or negative (-EIO:
 * oneDNN failed).
 */
int net_forward(struct net *net, const float *weights, const float *images, const uint8_t *labels,
                size_t n, double *ret_loss, size_t *ret_n_correct);
int net_backward(struct net *net, float *ret_gradient);

#endif
