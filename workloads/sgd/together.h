/* SPDX-License-Identifier: MIT */
/* Trainings without a server. Both return 0, or negative when any rank has failed, and said. */
#ifndef CHOKEPOINT_WORKLOADS_SGD_TOGETHER_H
#define CHOKEPOINT_WORKLOADS_SGD_TOGETHER_H

#include "workloads/sgd/lead.h"

/* --mode single: one rank, each batch applied to the model where it stands. */
int single_run(struct lead *lead);

/* --exchange allreduce, at every rank. Only rank 0's lead tests and shows. */
int allreduce_run(struct lead *lead);

#endif
