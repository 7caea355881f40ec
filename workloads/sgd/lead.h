/* SPDX-License-Identifier: MIT */
/*
 * Rank 0's lead of a training, whatever the exchange: the tests, the clock, the progress line, and
 * the result.
 */
#ifndef CHOKEPOINT_WORKLOADS_SGD_LEAD_H
#define CHOKEPOINT_WORKLOADS_SGD_LEAD_H

#include "workloads/common/progress.h"
#include "workloads/sgd/tester.h"
#include "workloads/sgd/trainer.h"

struct outcome {
    uint64_t updates, examples; /* of the model, over all ranks */
    double duration_s;          /* of the training with its tests */
    double test_s;              /* part of duration_s in tests */
    double checkpoint_s;        /* part of duration_s in checkpoints */
    uint64_t checkpoints;
    double staleness; /* mean over the updates */
    uint64_t most_stale;
    uint64_t dropped; /* --backup: gradients that came too late */
    double spared_s;  /* time that waiting for these would have added */
    double loss;      /* mean of the last batches */
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
    uint64_t tested_at, saved_at; /* in updates */
    struct outcome outcome;
};

/* Opens the test data. Reports errors on standard error. Returns 0 or negative; call lead_release()
 * in any case. */
int lead_init(struct lead *ret_lead, struct trainer *trainer);
void lead_release(struct lead *lead);

/* Call them before the first iteration and after the last. */
void lead_begin(struct lead *lead);
void lead_end(struct lead *lead);

/* Whether a test follows so many iterations; it does at the beginning and at the end. */
bool lead_tests_after(const struct trainer *trainer, uint64_t iterations);
/* Tests the model unless that was done, in a phase of its own. Returns 0, or negative after
 * reporting it. */
int lead_test(struct lead *lead);
/* A worker at its end: the accuracy of the last model it received, marked as "own accuracy", so
 * that "accuracy" stays one curve. Returns 0, or negative after reporting it. */
int lead_test_own(struct lead *lead);
/* Collective, for ranks that have the same weights: each of the others marks rank 0's last accuracy
 * as its own. */
void lead_share_accuracy(const struct lead *lead);

/* Whether a checkpoint follows so many iterations. */
bool lead_saves_after(const struct trainer *trainer, uint64_t iterations);
/* Writes a checkpoint, unless there is one for these updates or none is wanted, in a phase of its
 * own. Returns 0, or negative after reporting it. */
int lead_save(struct lead *lead);
bool lead_is_out_of_time(const struct lead *lead);
/* Reports a loss that is not finite, and returns false. */
bool lead_check_loss(const struct lead *lead, double loss, uint64_t iteration);
void lead_show(struct lead *lead, double done, double total);

#endif
