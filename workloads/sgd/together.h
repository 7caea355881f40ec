/* SPDX-License-Identifier: MIT */
/* Trainings without a server. Both return 0, or negative after reporting it if any rank has
 * failed. */
#ifndef CHOKEPOINT_WORKLOADS_SGD_TOGETHER_H
#define CHOKEPOINT_WORKLOADS_SGD_TOGETHER_H

#include "workloads/sgd/lead.h"

/* --mode single: one rank, which applies each batch to the model in place. */
int single_run(struct lead *lead);

/* --exchange allreduce, at every rank. Only rank 0's lead tests and shows progress. */
int allreduce_run(struct lead *lead);

#endif
