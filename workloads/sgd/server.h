/* SPDX-License-Identifier: MIT */
/*
 * Rank 0: the parameter server, which works on data as well. What the two modes share;
 * server_sync.c and server_async.c decide when a worker is answered and when its gradient is
 * applied.
 */
#ifndef CHOKEPOINT_WORKLOADS_SGD_SERVER_H
#define CHOKEPOINT_WORKLOADS_SGD_SERVER_H

#include "workloads/common/progress.h"
#include "workloads/sgd/channel.h"
#include "workloads/sgd/trainer.h"

struct outcome {
    uint64_t updates, examples; /* of the model, by all ranks */
    double duration_s;          /* of the training, tests included */
    double staleness;           /* mean over the updates */
    double loss;                /* of the last batches */
    bool tested;
    double accuracy, test_loss; /* of the last test */
    uint64_t n_tested;
    bool out_of_time;
};

struct server {
    struct trainer *t;
    struct channel *channels; /* of ranks 1, 2, ... */
    int n_channels;
    char test_path[4096]; /* "": no tests */
    struct progress progress;
    int64_t started_ns;
    double staleness_sum;
    uint64_t tested_at; /* updates */
    struct outcome outcome;
};

/* Trains; fills the outcome as far as it got. Returns 0, or negative when any rank has failed. */
int server_run(struct trainer *trainer, struct outcome *ret_outcome);

/* ---- for server_sync.c and server_async.c ---- */

int server_run_sync(struct server *server);
int server_run_async(struct server *server);

/* Steps all channels once; true if anything happened. */
bool server_step(struct server *server);
/* Whether every (any) channel is in the state. */
bool server_all(const struct server *server, enum channel_state state);
bool server_any(const struct server *server, enum channel_state state);

/* A phase of its own: nobody is served meanwhile. Returns 0 or negative. */
int server_test(struct server *server);
bool server_is_out_of_time(const struct server *server);
/* Says so and returns false when a loss is not finite. */
bool server_check_loss(struct server *server, double loss, uint64_t iteration);
void server_show(struct server *server, double done, double total);
/* Answers all pulls with the end, applying nothing more, until all workers have it. */
void server_end_workers(struct server *server, bool failed);

#endif
