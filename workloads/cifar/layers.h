/* SPDX-License-Identifier: MIT */
/*
 * The small convolutional net of TensorFlow's tutorial, which trains it on CIFAR-10 with Adam
 * (about 70 % of the real images after ten epochs of 50,000).
 */
#ifndef CHOKEPOINT_WORKLOADS_CIFAR_LAYERS_H
#define CHOKEPOINT_WORKLOADS_CIFAR_LAYERS_H

#include "workloads/network/plan.h"

#define CIFAR_WEIGHTS 122570 /* 896 + 18496 + 36928 + 65600 + 650 */

extern const struct net_plan cifar_plan;

#endif
