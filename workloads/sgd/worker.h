/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_WORKLOADS_SGD_WORKER_H
#define CHOKEPOINT_WORKLOADS_SGD_WORKER_H

#include "workloads/sgd/trainer.h"

/* All iterations of a rank other than 0. Returns 0, or negative if this or another rank has
 * failed. */
int worker_run(struct trainer *trainer);

#endif
