/* SPDX-License-Identifier: MIT */
/* Runs a training program from its command line to its exit status, which main() returns. */
#ifndef CHOKEPOINT_WORKLOADS_NETWORK_RUN_H
#define CHOKEPOINT_WORKLOADS_NETWORK_RUN_H

#include "workloads/network/options.h"

int network_main(int argc, char **argv, const struct network_program *program);

#endif
