/* SPDX-License-Identifier: MIT */
/*
 * Rank 0's lead of a training, however ranks exchange: the tests, the clock, the progress line, and
 * the result.
 */
#ifndef CHOKEPOINT_WORKLOADS_SGD_LEAD_H
#define CHOKEPOINT_WORKLOADS_SGD_LEAD_H

#include "workloads/common/progress.h"
#include "workloads/sgd/tester.h"
#include "workloads/sgd/trainer.h"

struct outcome {
    uint64_t updates, examples; /* of the model, by all ranks */
    double duration_s;          /* of the training, tests included */
    double test_s;              /* of that, the tests */
    double checkpoint_s;        /* of that, the checkpoints */
    uint64_t checkpoints;
    double staleness; /* mean over the updates */
    uint64_t most_stale;
    uint64_t dropped; /* --backup: gradients that came too late */
    double spared_s;  /* to wait for these alone would have taken so much longer */
    double loss;      /* of the last batches */
    bool tested;
    double accuracy, test_loss; /* of the last test */
    uint64_t n_tested;
    bool out_of_time;
};

struct lead {
    struct trainer *t;
    struct tester tester;
    struct progress progress;
    int64_t started_ns;
    uint64_t tested_at, saved_at; /* updates */
    struct outcome outcome;
};

/* Opens the test data. Says what is wrong on standard error. Returns 0 or negative;
 * lead_release() in any case. */
int lead_init(struct lead *ret_lead, struct trainer *trainer);
void lead_release(struct lead *lead);

/* From the first iteration to the last. */
void lead_begin(struct lead *lead);
void lead_end(struct lead *lead);

/* Whether a test follows so many iterations, the beginning and the end included. */
bool lead_tests_after(const struct trainer *trainer, uint64_t iterations);
/* Unless that has been tested already: in a phase of its own. Returns 0 or negative, said. */
int lead_test(struct lead *lead);
/* A worker, at its end: the accuracy of the model as it was sent last, marked as "own accuracy", so
 * that "accuracy" stays one curve. Returns 0 or negative, said. */
int lead_test_own(struct lead *lead);
/* Collective, of ranks that have the same weights: what rank 0 found last is marked by each of the
 * others as its own. */
void lead_share_accuracy(const struct lead *lead);

/* Whether a checkpoint follows so many iterations. */
bool lead_saves_after(const struct trainer *trainer, uint64_t iterations);
/* Writes one, unless there is one of these updates or none is wanted: in a phase of its own.
 * Returns 0 or negative, said. */
int lead_save(struct lead *lead);
bool lead_is_out_of_time(const struct lead *lead);
/* Says so and returns false when a loss is not finite. */
bool lead_check_loss(const struct lead *lead, double loss, uint64_t iteration);
void lead_show(struct lead *lead, double done, double total);

#endif
