/* SPDX-License-Identifier: MIT */
/*
 * A parameter server at rank 0, which also trains on batches of its own and serves between them. A
 * worker sends its gradient and gets the current weights; no worker waits for another's gradient.
 * The cost is that an answer may take as long as a batch of rank 0.
 *
 * At its end a worker tests its own copy of the model, which lacks gradients that others sent
 * since. Rank 0 tests the model itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/mark/chokepoint.h"
#include "workloads/network/trainer.h"

enum { TAG_PUSH = 1, TAG_PULL };
enum { GO_ON, LAST, FAILED }; /* states that a worker sends to the server, and back */

/* Sent as plain bytes: all ranks run the same binary on the same kind of machine. */
struct push {
    int32_t state;
    uint64_t version; /* version of the weights that the gradient was computed at */
    double loss;
    float gradient[];
};

struct pull {
    int32_t state;
    uint64_t version;
    float weights[];
};

static size_t push_bytes(const struct trainer *t) {
    return sizeof(struct push) + t->n_weights * sizeof(float);
}

static size_t pull_bytes(const struct trainer *t) {
    return sizeof(struct pull) + t->n_weights * sizeof(float);
}

/* ---- the server ---- */

struct server {
    struct trainer *t;
    struct push *push;
    struct pull *pull;
    int n_working; /* workers that will send again */
    bool failed;   /* a rank has failed: all are told */
    double staleness_sum;
};

static void take_gradient(struct server *s, const float *gradient, uint64_t version, double loss) {
    struct trainer *t = s->t;
    plants_apply(&t->options->plants, (double)t->account.iterations / (double)t->iterations);
    double staleness = (double)(t->outcome.updates - version);
    s->staleness_sum += staleness;
    chokepoint_value("staleness", staleness);
    trainer_apply(t, gradient, 1);
    t->outcome.updates++;
    t->outcome.images += t->options->batch;
    t->outcome.loss = loss;
}

static bool is_over(const struct server *s) {
    return s->failed || s->t->outcome.out_of_time || s->t->outcome.reached;
}

static void answer(struct server *s, int worker) {
    struct trainer *t = s->t;
    MPI_Request request;
    bool stop = is_over(s) || s->push->state != GO_ON;
    s->pull->state = s->failed ? FAILED : stop ? LAST : GO_ON;
    s->pull->version = t->outcome.updates;
    memcpy(s->pull->weights, t->weights, t->n_weights * sizeof *t->weights);
    s->n_working -= stop;
    MPI_Isend(s->pull, (int)pull_bytes(t), MPI_BYTE, worker, TAG_PULL, MPI_COMM_WORLD, &request);
    wait_all(&t->group->waiter, 1, &request);
    t->account.sent_bytes += pull_bytes(t);
}

/* Serves one worker, if one has called. */
static bool serve(struct server *s) {
    struct trainer *t = s->t;
    MPI_Status status;
    int called = 0;
    int64_t start = chokepoint_now_ns();
    MPI_Iprobe(MPI_ANY_SOURCE, TAG_PUSH, MPI_COMM_WORLD, &called, &status);
    if (!called)
        return false;
    MPI_Request request;
    MPI_Irecv(s->push, (int)push_bytes(t), MPI_BYTE, status.MPI_SOURCE, TAG_PUSH, MPI_COMM_WORLD,
              &request);
    wait_all(&t->group->waiter, 1, &request);
    t->account.received_bytes += push_bytes(t);
    s->failed |= s->push->state == FAILED;
    t->outcome.out_of_time |= trainer_is_out_of_time(t);
    if (!s->failed && !t->outcome.reached) /* what was reached before stays valid */
        take_gradient(s, s->push->gradient, s->push->version, s->push->loss);
    answer(s, status.MPI_SOURCE);
    chokepoint_operator("serve", (int64_t)(push_bytes(t) + pull_bytes(t)), start,
                        chokepoint_now_ns() - start);
    t->account.exchange_s += (double)(chokepoint_now_ns() - start) * 1e-9;
    return true;
}

static bool test_model(struct server *s, uint64_t iterations) {
    chokepoint_phase("testing");
    int r = trainer_test(s->t, iterations);
    chokepoint_phase("training");
    chokepoint_iteration_begin();
    return r >= 0;
}

static bool work(struct server *s, uint64_t i) {
    struct trainer *t = s->t;
    int64_t start = chokepoint_now_ns();
    uint64_t version = t->outcome.updates;
    double loss = 0;
    if (trainer_compute(t, i, &loss) < 0 || !trainer_check_loss(t, loss, i + 1))
        return false;
    take_gradient(s, t->gradient, version, loss);
    while (serve(s))
        ;
    trainer_finish_iteration(t, i, start, loss);
    return true;
}

/* Serves the remaining workers until they have done their share, or are told to stop. */
static void serve_the_rest(struct server *s) {
    waiter_wake(&s->t->group->waiter);
    while (s->n_working > 0) {
        if (serve(s))
            waiter_wake(&s->t->group->waiter);
        else
            waiter_back_off(&s->t->group->waiter);
    }
}

static int run_server(struct trainer *t, struct push *push, struct pull *pull) {
    struct server s = {.t = t, .push = push, .pull = pull, .n_working = t->group->n_ranks - 1};
    uint64_t i = 0;
    for (; i < t->iterations && !is_over(&s); i++) {
        s.failed |= !work(&s, i);
        if (!s.failed && i + 1 < t->iterations && trainer_tests_after(t, i + 1))
            s.failed |= !test_model(&s, i + 1);
        t->outcome.out_of_time |= trainer_is_out_of_time(t);
        trainer_show(t, (double)i + 1, (double)t->iterations);
    }
    serve_the_rest(&s);
    if (!s.failed && !t->outcome.reached)
        s.failed |= !test_model(&s, i);
    t->outcome.staleness = t->outcome.updates ? s.staleness_sum / (double)t->outcome.updates : 0;
    return s.failed ? -ECANCELED : 0;
}

/* ---- a worker ---- */

static int exchange(struct trainer *t, struct push *push, struct pull *pull) {
    MPI_Request requests[2];
    int64_t start = chokepoint_now_ns();
    MPI_Irecv(pull, (int)pull_bytes(t), MPI_BYTE, 0, TAG_PULL, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(push, (int)push_bytes(t), MPI_BYTE, 0, TAG_PUSH, MPI_COMM_WORLD, &requests[1]);
    wait_all(&t->group->waiter, 2, requests);
    chokepoint_operator("exchange", (int64_t)(push_bytes(t) + pull_bytes(t)), start,
                        chokepoint_now_ns() - start);
    t->account.exchange_s += (double)(chokepoint_now_ns() - start) * 1e-9;
    t->account.sent_bytes += push_bytes(t);
    t->account.received_bytes += pull_bytes(t);
    memcpy(t->weights, pull->weights, t->n_weights * sizeof *t->weights);
    return pull->state;
}

static int run_worker(struct trainer *t, struct push *push, struct pull *pull) {
    int state = GO_ON;
    pull->version = 0; /* the first weights are the same everywhere */
    for (uint64_t i = 0; state == GO_ON && i < t->iterations; i++) {
        int64_t start = chokepoint_now_ns();
        double loss = 0;
        bool good = trainer_compute(t, i, &loss) == 0 && trainer_check_loss(t, loss, i + 1);
        push->state = !good ? FAILED : i + 1 == t->iterations ? LAST : GO_ON;
        push->version = pull->version;
        push->loss = loss;
        memcpy(push->gradient, t->gradient, t->n_weights * sizeof *t->gradient);
        state = exchange(t, push, pull);
        trainer_finish_iteration(t, i, start, loss);
    }
    return state == FAILED ? -ECANCELED : trainer_test_own(t);
}

int train_async(struct trainer *t) {
    struct push *push = calloc(1, push_bytes(t));
    struct pull *pull = calloc(1, pull_bytes(t));
    bool able = push && pull;
    int r = -ENOMEM;
    if (!able)
        rank_group_say(t->group, "not enough memory for a gradient");
    if (rank_group_is_well(t->group, able ? 0 : -ENOMEM))
        r = t->group->rank == 0 ? run_server(t, push, pull) : run_worker(t, push, pull);
    free(push);
    free(pull);
    return r;
}
