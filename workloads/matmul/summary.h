/* SPDX-License-Identifier: MIT */
/* The result of a product: text for people on standard output, JSON for programs. */
#ifndef CHOKEPOINT_WORKLOADS_MATMUL_SUMMARY_H
#define CHOKEPOINT_WORKLOADS_MATMUL_SUMMARY_H

#include <stdio.h>

#include "workloads/matmul/product.h"

struct summary {
    const struct matmul_options *options;
    int n_ranks;
    const struct outcome *outcome;
    const struct matmul_account *accounts; /* of each rank */
};

double summary_gflops(const struct summary *summary); /* of all ranks, over the rounds' time */

void summary_print(const struct summary *summary, FILE *out);

/* summary_json.c, the only file that includes the JSON library. Returns 0 or a negative errno. */
int summary_write_json(const struct summary *summary, const char *path);

#endif
