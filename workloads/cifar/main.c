/* SPDX-License-Identifier: MIT */
/*
 * chokepoint-cifar: trains a small convolutional net on colour images of 32 x 32 with Adam, the
 * program of R5, over MPI and oneDNN. R5 counts images/s and the time to a given accuracy:
 * --target.
 *
 * The expected analysis: an image costs 9 Mflop forward and twice as much backward. An iteration
 * moves the 122,570 weights, 490 KB, whatever the batch: up and down (async), or about twice
 * through every rank's link (sync, a ring). With batches of 32 and a core that does 3,000 images/s,
 * a rank computes for 11 ms, and a link of 1 Gbit/s carries 490 KB in 4 ms. So the CPU is the
 * limit, one core a rank, down to links of 400 Mbit/s; below that the network is. Sync is as fast
 * as its slowest rank; in async, more ranks meet the limit of the server's link and core. Rank 0
 * alone tests.
 *
 * Accuracy on 1,000 test images after training on 10,000 textures of `chokepoint-data generate
 * textures` in batches of 32 on one rank: 75 % after two epochs (77 and 85 % with seeds 1 and 2),
 * 85 % after three (86 and 90 %). A linear model is no better than chance.
 */
#include "workloads/cifar/layers.h"
#include "workloads/network/run.h"

static const struct network_program cifar = {
    .name = "chokepoint-cifar",
    .title = "A small convolutional net on images of 32 x 32 in colour",
    .plan = &cifar_plan,
    .mean = 127.5,
    .deviation = 64,
    .optimizer = OPTIMIZER_ADAM,
    .rate = .001,
    .batch = 64,
    .epochs = 6,
};

int main(int argc, char **argv) {
    return network_main(argc, argv, &cifar);
}
