/* SPDX-License-Identifier: MIT */
#include "workloads/cifar/layers.h"

const struct net_plan cifar_plan = {
    .rows = 32,
    .channels = 3,
    .n_layers = 7,
    .layers = {{"conv1", NET_CONV, .outs = 32, .kernel = 3},
               {"pool1", NET_POOL},
               {"conv2", NET_CONV, .outs = 64, .kernel = 3},
               {"pool2", NET_POOL},
               {"conv3", NET_CONV, .outs = 64, .kernel = 3},
               {"full1", NET_FULL, .outs = 64},
               {"full2", NET_FULL, .outs = 10}},
};
