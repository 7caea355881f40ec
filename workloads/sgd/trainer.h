/* SPDX-License-Identifier: MIT */
/*
 * State of a training on every rank, server or worker: its share of the data, the current batch,
 * and the account of its work. A model has a row of `width` weights for each feature; a gradient
 * over a batch has one for each feature of the batch.
 */
#ifndef CHOKEPOINT_WORKLOADS_SGD_TRAINER_H
#define CHOKEPOINT_WORKLOADS_SGD_TRAINER_H

#include "workloads/common/rank_group.h"
#include "workloads/data/origin.h"
#include "workloads/sgd/checkpoint.h"
#include "workloads/sgd/source.h"

/* One rank's account; MPI sends it as plain bytes. */
struct account {
    uint64_t iterations, examples;
    uint64_t sent_bytes, received_bytes; /* payload of MPI messages */
    double iteration_s;                  /* median */
    double cpu_s;                        /* CPU time from the first iteration to the last */
};

struct trainer {
    const struct sgd_options *options;
    struct rank_group *group;
    int n_shares; /* ranks that train on data: all, or all but rank 0 */
    bool works;   /* this rank trains on data */
    uint32_t n_features, width;
    size_t n_weights;               /* n_features x width */
    uint64_t iterations;            /* to do, with those before a checkpoint */
    struct checkpoint_head resumed; /* progress of the checkpoint; zeroed: none */
    uint64_t *batches; /* rank 0: batches that each rank has read before the last update, by rank */
    float *weights;    /* the model, or a dense worker's copy; a sparse worker: NULL */
    struct source source;
    char origin[ORIGIN_SIZE]; /* origin of its images, in words; "" for text */
    struct batch batch;
    size_t batch_rows; /* rows of the current batch: --batch, or as planted */
    struct plants plants;
    float *local_weights, *local_gradient; /* for the batch's features */
    float *residual;                       /* for the batch's rows */
    size_t local_capacity;
    struct account account;
    uint64_t reported_bytes; /* bytes of the account that are marked already */
    double *durations_s;     /* durations of the iterations */
    size_t n_durations, durations_capacity;
};

/* Opens the data and allocates. Reports errors on standard error. Returns 0 or negative; call
 * trainer_release() in any case. */
int trainer_init(struct trainer *ret_trainer, const struct sgd_options *options,
                 struct rank_group *group);
void trainer_release(struct trainer *trainer);

/* Rank 0: counts one more batch for every rank that trains. */
void trainer_count_batches(struct trainer *trainer);

/* Reads up to n examples of the next batch. Returns 1 when it is complete (and compacted), 0, or
 * negative. */
int trainer_read(struct trainer *trainer, size_t n);
int trainer_read_batch(struct trainer *trainer);

/* Share of its iterations that this rank has finished. */
double trainer_done(const struct trainer *trainer);

/* The learning rate of an iteration, counted from 0. */
float trainer_rate(const struct trainer *trainer, uint64_t iteration);

/* Floats of a gradient over the batch. */
size_t trainer_local_floats(const struct trainer *trainer);

/* The mean gradient of the batch at local_weights into local_gradient; returns the mean loss. */
double trainer_compute(struct trainer *trainer);

/* As trainer_compute, but at a whole model, and applies the gradient to it; the batch need not be
 * compacted. */
double trainer_descend(struct trainer *trainer, float *model, float rate);

/* local_weights from a whole model; and model -= scale * gradient over a sorted list of n
 * features. */
void trainer_gather(struct trainer *trainer, const float *model);
void trainer_apply(const struct trainer *trainer, float *model, size_t n, const uint32_t *features,
                   const float *gradient, float scale);
/* Zeroes the batch's features in a whole gradient. */
void trainer_clear(const struct trainer *trainer, float *gradient);

/* Ends iteration `number`, which began at *start_ns: marks it, keeps the duration, and empties the
 * batch. *start_ns becomes the start of the next iteration. */
void trainer_finish_iteration(struct trainer *trainer, uint64_t number, int64_t *start_ns,
                              double loss);

#endif
