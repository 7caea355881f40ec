/* SPDX-License-Identifier: MIT */
/*
 * What every rank of a training has, server or worker: its share of the data, the batch in hand,
 * and the account of what it did.
 */
#ifndef CHOKEPOINT_WORKLOADS_SGD_TRAINER_H
#define CHOKEPOINT_WORKLOADS_SGD_TRAINER_H

#include "workloads/common/libsvm.h"
#include "workloads/common/wait.h"
#include "workloads/sgd/options.h"

/* One rank's account; goes over MPI as it is. */
struct account {
    uint64_t iterations, examples;
    uint64_t sent_bytes, received_bytes; /* payload of MPI messages */
    double iteration_s;                  /* median */
};

struct trainer {
    const struct sgd_options *options;
    int rank, n_ranks;
    struct waiter waiter;
    float *weights; /* rank 0: the model; a dense worker: its copy; a sparse worker: NULL */
    struct libsvm_reader data;
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

/* Opens the data and allocates. Says what is wrong on standard error. Returns 0 or negative. */
int trainer_init(struct trainer *ret_trainer, const struct sgd_options *options, int rank,
                 int n_ranks);
void trainer_release(struct trainer *trainer);

/* One line on standard error: "chokepoint-sgd: rank 3 on vm-4: TEXT". */
void trainer_say(const struct trainer *trainer, const char *text);

/* Reads up to n examples of the next batch. Returns 1 when it is whole (and compacted), 0, or
 * negative. */
int trainer_read(struct trainer *trainer, size_t n);
int trainer_read_batch(struct trainer *trainer);

/* Share of its iterations that are behind this rank. */
double trainer_done(const struct trainer *trainer);

/* The mean gradient of the batch at local_weights into local_gradient; returns the mean loss. */
double trainer_compute(struct trainer *trainer);

/* local_weights from a whole model, and w -= scale * g over a sorted list of features. */
void trainer_gather(struct trainer *trainer, const float *model);
void trainer_apply(float *model, size_t n, const uint32_t *features, const float *gradient,
                   float scale);

/* Ends iteration `number`, begun at *start_ns, where the next one begins now: marks it and keeps
 * the duration. Then an empty batch. */
void trainer_finish_iteration(struct trainer *trainer, uint64_t number, int64_t *start_ns,
                              double loss);

#endif
