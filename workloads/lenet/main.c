/* SPDX-License-Identifier: MIT */
/*
 * chokepoint-lenet: LeNet-5 on digits of 28 x 28, the second program of R2, over MPI and oneDNN.
 *
 * The expected analysis: an image costs 2.5 Mflop forward and twice as much backward. An iteration
 * moves the 61,706 weights, 247 KB, whatever the batch: up and down (async), or about twice through
 * every rank's link (sync, a ring). With batches of 64 and a core that does 25,000 images/s, a rank
 * computes for 2.6 ms, and a link of 1 Gbit/s carries 247 KB in 2 ms: the network is the limit;
 * with 512 the CPU is, one core a rank. Sync is as fast as its slowest rank; in async, more ranks
 * meet the limit of the server's link and core. Rank 0 alone tests.
 *
 * Accuracy on the 10,000 test digits of `chokepoint-data generate digits`, after one epoch of the
 * 60,000 with default options on one rank: 98 %. A linear model reaches 92 %.
 */
#include "workloads/lenet/layers.h"
#include "workloads/network/run.h"

static const struct network_program lenet = {
    .name = "chokepoint-lenet",
    .title = "LeNet-5 on digits of 28 x 28",
    .plan = &lenet_plan,
    .deviation = 255,
    .optimizer = OPTIMIZER_SGD,
    .rate = .05,
    .batch = 64,
    .epochs = 6,
};

int main(int argc, char **argv) {
    return network_main(argc, argv, &lenet);
}
