/* SPDX-License-Identifier: MIT */
/* The result of a training: text for people on standard output, JSON for programs. */
#ifndef CHOKEPOINT_WORKLOADS_SGD_SUMMARY_H
#define CHOKEPOINT_WORKLOADS_SGD_SUMMARY_H

#include <stdio.h>

#include "workloads/sgd/lead.h"

struct summary {
    const struct trainer *trainer; /* of rank 0 */
    const struct outcome *outcome;
    const struct account *accounts; /* of each rank */
};

/* Examples a second of all ranks, over the time of the training without its tests. */
double summary_examples_per_s(const struct summary *summary);

void summary_print(const struct summary *summary, FILE *out);

/* summary_json.c, the only file that includes the JSON library. Returns 0 or a negative errno. */
int summary_write_json(const struct summary *summary, const char *path);

#endif
