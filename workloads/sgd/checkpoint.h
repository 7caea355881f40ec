/* SPDX-License-Identifier: MIT */
/*
 * The state of a training on disk, from which a later run continues: DIR/checkpoint with a header,
 * the number of batches that each rank has read, the weights, and the CRC-32 of all these. It is
 * written under another name, synced and renamed, so that a killed run leaves the checkpoint
 * before. Numbers are in memory order: the later run needs the same kind of machine.
 */
#ifndef CHOKEPOINT_WORKLOADS_SGD_CHECKPOINT_H
#define CHOKEPOINT_WORKLOADS_SGD_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "workloads/sgd/options.h"

struct checkpoint_error {
    char text[4608];
};

/* Properties that the later training must share, and the progress. */
struct checkpoint_head {
    char magic[8];
    uint32_t version, mode, softmax, n_ranks, n_shares, n_features, width, reserved;
    uint64_t batch, seed;
    uint64_t updates, examples;
    double loss;
};

/* The header for a training of this shape; updates, examples and loss are 0. */
struct checkpoint_head checkpoint_head_of(const struct sgd_options *options, int n_ranks,
                                          int n_shares, uint32_t n_features, uint32_t width);

/* batches[n_ranks], weights[n_features x width]. Makes the directory if needed. Returns 0, or a
 * negative errno with the old checkpoint unchanged. */
int checkpoint_write(const char *directory, const struct checkpoint_head *head,
                     const uint64_t *batches, const float *weights);

/*
 * Fills batches and weights, and updates, examples and loss of ret_head, from a checkpoint whose
 * other properties must equal ret_head's. Returns 0, or negative with ret_error filled: one line
 * that names the file.
 */
int checkpoint_read(const char *directory, const struct checkpoint_head *wanted,
                    struct checkpoint_head *ret_head, uint64_t *ret_batches, float *ret_weights,
                    struct checkpoint_error *ret_error);

#endif
