/* SPDX-License-Identifier: MIT */
/*
 * A training's state on disk, which a later run goes on from: DIR/checkpoint, a head, the batches
 * that each rank has read, the weights, and the CRC-32 of all that. It is written under another
 * name, synced and renamed, so that a run that is killed leaves the checkpoint before it. Numbers
 * lie as they do in memory: the machine that goes on is of the same kind.
 */
#ifndef CHOKEPOINT_WORKLOADS_SGD_CHECKPOINT_H
#define CHOKEPOINT_WORKLOADS_SGD_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "workloads/sgd/options.h"

struct checkpoint_error {
    char text[4608];
};

/* Properties that the training must share to go on from it, and its progress. */
struct checkpoint_head {
    char magic[8];
    uint32_t version, mode, softmax, n_ranks, n_shares, n_features, width, reserved;
    uint64_t batch, seed;
    uint64_t updates, examples;
    double loss;
};

/* The head of a training of this shape; updates, examples and loss are 0. */
struct checkpoint_head checkpoint_head_of(const struct sgd_options *options, int n_ranks,
                                          int n_shares, uint32_t n_features, uint32_t width);

/* batches[n_ranks], weights[n_features x width]. Makes the directory if need be. Returns 0 or a
 * negative errno, when what was there before is as it was. */
int checkpoint_write(const char *directory, const struct checkpoint_head *head,
                     const uint64_t *batches, const float *weights);

/*
 * Fills batches and weights, and ret_head's updates, examples and loss, of a checkpoint whose head
 * is wanted otherwise. Returns 0, or negative with ret_error filled: one line that names the file.
 */
int checkpoint_read(const char *directory, const struct checkpoint_head *wanted,
                    struct checkpoint_head *ret_head, uint64_t *ret_batches, float *ret_weights,
                    struct checkpoint_error *ret_error);

#endif
