/* SPDX-License-Identifier: MIT */
/* What a training came to: for people on standard output, for programs as JSON. */
#ifndef CHOKEPOINT_WORKLOADS_SGD_SUMMARY_H
#define CHOKEPOINT_WORKLOADS_SGD_SUMMARY_H

#include <stdio.h>

#include "workloads/sgd/server.h"

struct summary {
    const struct sgd_options *options;
    int n_ranks;
    const struct outcome *outcome;
    const struct account *accounts; /* of each rank */
};

void summary_print(const struct summary *summary, FILE *out);

/* summary_json.c, the only file that knows the JSON library. Returns 0 or a negative errno. */
int summary_write_json(const struct summary *summary, const char *path);

#endif
