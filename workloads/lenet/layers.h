/* SPDX-License-Identifier: MIT */
/*
 * LeNet-5 on 28 x 28 (Y. LeCun et al., Gradient-based learning applied to document recognition,
 * 1998; with ReLU, maximum pooling and softmax, as is usual today).
 */
#ifndef CHOKEPOINT_WORKLOADS_LENET_LAYERS_H
#define CHOKEPOINT_WORKLOADS_LENET_LAYERS_H

#include "workloads/network/plan.h"

#define LENET_WEIGHTS 61706 /* 156 + 2416 + 48120 + 10164 + 850 */

extern const struct net_plan lenet_plan;

#endif
