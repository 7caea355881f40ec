/* SPDX-License-Identifier: MIT */
/*
 * State of a training on every rank, server or worker: its share of the data, the batch in hand,
 * and the account of its work. A model is a row of `width` weights for each feature; a gradient
 * over a batch is one for each feature that the batch touches.
 */
#ifndef CHOKEPOINT_WORKLOADS_SGD_TRAINER_H
#define CHOKEPOINT_WORKLOADS_SGD_TRAINER_H

#include "workloads/common/rank_group.h"
#include "workloads/data/origin.h"
#include "workloads/sgd/checkpoint.h"
#include "workloads/sgd/source.h"

/* One rank's account; goes over MPI as it is. */
struct account {
    uint64_t iterations, examples;
    uint64_t sent_bytes, received_bytes; /* payload of MPI messages */
    double iteration_s;                  /* median */
    double cpu_s;                        /* that this rank used from first iteration to last */
};

struct trainer {
    const struct sgd_options *options;
    struct rank_group *group;
    int n_shares; /* ranks that work on data: all, or all but rank 0 */
    bool works;   /* this one does */
    uint32_t n_features, width;
    size_t n_weights;               /* n_features x width */
    uint64_t iterations;            /* that are to be done, with those before a checkpoint */
    struct checkpoint_head resumed; /* what was done before; zeroed: nothing */
    uint64_t *batches; /* rank 0: of each rank, read before the last update; in order of ranks */
    float *weights;    /* the model, or a dense worker's copy; a sparse worker: NULL */
    struct source source;
    char origin[ORIGIN_SIZE]; /* of its images, in words; "" of text */
    struct batch batch;
    size_t batch_rows; /* of the batch in hand: --batch, or what is planted */
    struct plants plants;
    float *local_weights, *local_gradient; /* over the batch's features */
    float *residual;                       /* over its rows */
    size_t local_capacity;
    struct account account;
    uint64_t reported_bytes; /* of the account, already marked */
    double *durations_s;     /* of the iterations */
    size_t n_durations, durations_capacity;
};

/* Opens the data and allocates. Says what is wrong on standard error. Returns 0 or negative;
 * trainer_release() in any case. */
int trainer_init(struct trainer *ret_trainer, const struct sgd_options *options,
                 struct rank_group *group);
void trainer_release(struct trainer *trainer);

/* Rank 0: every rank that works has read one more. */
void trainer_count_batches(struct trainer *trainer);

/* Reads up to n examples of the next batch. Returns 1 when it is whole (and compacted), 0, or
 * negative. */
int trainer_read(struct trainer *trainer, size_t n);
int trainer_read_batch(struct trainer *trainer);

/* Share of its iterations that are behind this rank. */
double trainer_done(const struct trainer *trainer);

/* The learning rate of an iteration, from 0. */
float trainer_rate(const struct trainer *trainer, uint64_t iteration);

/* Floats of a gradient over the batch. */
size_t trainer_local_floats(const struct trainer *trainer);

/* The mean gradient of the batch at local_weights into local_gradient; returns the mean loss. */
double trainer_compute(struct trainer *trainer);

/* The same at a whole model, which it is applied to at once; the batch needs not be compacted. */
double trainer_descend(struct trainer *trainer, float *model, float rate);

/* local_weights from a whole model; and model -= scale * gradient over a sorted list of n features.
 */
void trainer_gather(struct trainer *trainer, const float *model);
void trainer_apply(const struct trainer *trainer, float *model, size_t n, const uint32_t *features,
                   const float *gradient, float scale);
/* Zeroes what the batch touches of a whole gradient. */
void trainer_clear(const struct trainer *trainer, float *gradient);

/* Ends iteration `number`, begun at *start_ns, where the next one begins now: marks it and keeps
 * the duration. Then an empty batch. */
void trainer_finish_iteration(struct trainer *trainer, uint64_t number, int64_t *start_ns,
                              double loss);

#endif
