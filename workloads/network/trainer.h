/* SPDX-License-Identifier: MIT */
/*
 * State of a training on every rank: images, net, weights, account. All ranks have all images (47
 * MB of MNIST, 154 MB of CIFAR-10) and compute the same order, so they share the work without
 * messages: in iteration i of an epoch rank r of N takes batch i N + r. One rank with batches N
 * times as large sees the same images in the same iteration.
 */
#ifndef CHOKEPOINT_WORKLOADS_NETWORK_TRAINER_H
#define CHOKEPOINT_WORKLOADS_NETWORK_TRAINER_H

#include "workloads/common/progress.h"
#include "workloads/common/rank_group.h"
#include "workloads/data/images.h"
#include "workloads/data/origin.h"
#include "workloads/network/net.h"
#include "workloads/network/optimizer.h"
#include "workloads/network/options.h"

#define TESTS_MAX 4096  /* the first ones are kept */
#define TRAINER_VOTES 3 /* sent behind the gradient: see sync.c */

/* One rank's account; MPI sends it as plain bytes. */
struct network_account {
    uint64_t iterations, images;
    uint64_t sent_bytes, received_bytes; /* payload passed to MPI */
    double compute_s, exchange_s;        /* exchange_s includes waiting */
    double iteration_s;                  /* median */
};

struct test_result {
    uint64_t iterations, updates, images;
    double t_s, accuracy, loss;
};

struct outcome {
    uint64_t updates, images; /* of all ranks */
    double duration_s;        /* of the training with its tests */
    double test_s;            /* part of duration_s in tests */
    double loss, staleness;
    double reached_s; /* when the target was reached: end of that test */
    bool out_of_time, reached;
    size_t n_tests;
    struct test_result tests[TESTS_MAX]; /* the last entry is always the last test */
};

struct trainer {
    const struct network_program *program;
    struct network_options *options;
    struct rank_group *group;
    struct images train, test;
    char origin[ORIGIN_SIZE]; /* origin of the images, in words */
    struct net *net;
    size_t piece; /* images that go through the net at once */
    size_t n_weights, n_pixels;
    float *weights, *gradient, *pixels;
    float *piece_gradient; /* NULL: a batch is one piece */
    struct optimizer optimizer;
    uint8_t *labels;
    uint32_t *order;
    uint64_t order_epoch; /* the epoch of `order`; UINT64_MAX: none */
    uint64_t iterations, per_epoch;
    int64_t started_ns;
    double owed; /* planted batches still to compute */
    double *durations_s;
    size_t n_durations;
    struct progress progress;
    struct network_account account;
    struct outcome outcome;
};

/* Reads the data, allocates, draws the first weights. Reports errors on standard error. Returns 0
 * or negative; call trainer_release() in any case. */
int trainer_init(struct trainer *ret_trainer, const struct network_program *program,
                 struct network_options *options, struct rank_group *group);
void trainer_release(struct trainer *trainer);

/* The gradient of iteration i of this rank, at the trainer's weights. Returns 0, or negative after
 * reporting it. */
int trainer_compute(struct trainer *trainer, uint64_t i, double *ret_loss);
/* One step of the optimizer, by gradient times scale. */
void trainer_apply(struct trainer *trainer, const float *gradient, float scale);
/* Marks the end of iteration i, which began at start_ns. */
void trainer_finish_iteration(struct trainer *trainer, uint64_t i, int64_t start_ns, double loss);

/* Rank 0: accuracy on the test images, in a phase of its own. Returns 1 if it reaches the target,
 * else 0; negative after reporting an error. */
int trainer_test(struct trainer *trainer, uint64_t iterations);
/* Another rank that trains alone for a while: accuracy of its own copy of the model on the test
 * images, marked as "own accuracy", so that "accuracy" stays one curve. Returns 0, or negative
 * after reporting it. */
int trainer_test_own(struct trainer *trainer);
bool trainer_tests_after(const struct trainer *trainer, uint64_t iterations);
bool trainer_is_out_of_time(const struct trainer *trainer);
/* Reports a loss that is not finite, and returns false. */
bool trainer_check_loss(const struct trainer *trainer, double loss, uint64_t i);
void trainer_show(struct trainer *trainer, double done, double total);

/* sync.c, async.c: the training, at every rank. Returns 0, or negative after reporting it. */
int train_sync(struct trainer *trainer);
int train_async(struct trainer *trainer);

#endif
