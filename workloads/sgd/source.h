/* SPDX-License-Identifier: MIT */
/*
 * A rank's training examples: libsvm text read again and again, the same text parsed once and kept
 * (--preload), or labelled images.
 *
 * Images: every rank has all of them and computes the same order in each epoch, so ranks share the
 * work without messages: share r of W takes the batches r, W + r, 2 W + r ... A rank alone with
 * batches W times as large sees the same images in the same iteration. Only pixels that are not
 * black become entries of a row; the last feature is 1 in every row, the bias.
 */
#ifndef CHOKEPOINT_WORKLOADS_SGD_SOURCE_H
#define CHOKEPOINT_WORKLOADS_SGD_SOURCE_H

#include "workloads/common/libsvm.h"
#include "workloads/data/images.h"
#include "workloads/sgd/options.h"

struct source_error {
    char text[640];
};

struct source {
    uint32_t n_features, width; /* width: weights a feature that its examples need */
    /* text */
    bool is_text;
    struct libsvm_reader reader;
    struct batch kept; /* --preload */
    size_t next_row;
    /* images */
    struct images images;
    uint32_t *order;
    uint64_t order_epoch, seed;
    uint64_t batch, share, n_shares, per_epoch; /* per_epoch: batches of a share; text: 0 */
    uint64_t taken;                             /* examples in this share */
};

/* The share of a rank among n_shares; -1: none, only the model's shape. Zeroed memory may be
 * released. Returns 0, or negative with ret_error filled. */
int source_open(struct source *ret_source, const struct sgd_options *options, int share,
                int n_shares, struct source_error *ret_error);
void source_release(struct source *source);

/* Appends up to n examples. Returns their number, which may be less than n or 0, or negative with
 * ret_error filled. */
ssize_t source_read(struct source *source, size_t n, struct batch *batch,
                    struct source_error *ret_error);

/* Skips n examples, as if they had been read. Returns 0, or negative with ret_error filled. */
int source_skip(struct source *source, uint64_t n, struct source_error *ret_error);

/* Appends image i as a row. Returns 0 or a negative errno. */
int source_add_image(const struct images *images, size_t i, struct batch *batch);

#endif
