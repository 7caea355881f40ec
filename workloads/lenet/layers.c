/* SPDX-License-Identifier: MIT */
#include "workloads/lenet/layers.h"

const struct net_plan lenet_plan = {
    .rows = 28,
    .channels = 1,
    .n_layers = 7,
    .layers = {{"conv1", NET_CONV, .outs = 6, .kernel = 5, .padding = 2},
               {"pool1", NET_POOL},
               {"conv2", NET_CONV, .outs = 16, .kernel = 5},
               {"pool2", NET_POOL},
               {"full1", NET_FULL, .outs = 120},
               {"full2", NET_FULL, .outs = 84},
               {"full3", NET_FULL, .outs = 10}},
};
