/* SPDX-License-Identifier: MIT */
/*
 * chokepoint-cifar: HEAD
 */
#include "workloads/cifar/layers.h"
#include "workloads/network/run.h"

static const struct network_program cifar = {
    .name = "chokepoint-cifar",
    .title = "A small convolutional net on images of 32 x 32 in colour",
    .plan = &cifar_plan,
    .optimizer = OPTIMIZER_ADAM,
    .rate = .001,
    .batch = 64,
    .epochs = 6,
};

int main(int argc, char **argv) {
    return network_main(argc, argv, &cifar);
}
