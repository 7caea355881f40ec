/* SPDX-License-Identifier: MIT */
/* The result of a training: text for people on standard output, JSON for programs. */
#ifndef CHOKEPOINT_WORKLOADS_NETWORK_SUMMARY_H
#define CHOKEPOINT_WORKLOADS_NETWORK_SUMMARY_H

#include <stdio.h>

#include "workloads/network/trainer.h"

struct summary {
    const struct trainer *trainer;          /* of rank 0 */
    const struct network_account *accounts; /* of each rank */
};

/* Images a second of all ranks, over the time of the training without its tests. */
double summary_images_per_s(const struct summary *summary);

void summary_print(const struct summary *summary, FILE *out);

/* summary_json.c, the only file that includes the JSON library. Returns 0 or a negative errno. */
int summary_write_json(const struct summary *summary, const char *path);

#endif
