/* SPDX-License-Identifier: MIT */
/*
 * A worker. The server alone decides between sync and async: a worker asks, gets an answer sooner
 * or later, computes, sends. It needs the mode only for the name of the phase in which it waits for
 * a sync test.
 *
 * With --prefetch it asks for the next weights when it offers a gradient, and receives them while
 * it sends. They overwrite the last ones, which are not needed any more: a batch computes on a copy
 * of its weights.
 */
#include "workloads/sgd/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/mark/chokepoint.h"
#include "workloads/common/stream.h"
#include "workloads/sgd/lead.h"
#include "workloads/sgd/protocol.h"

struct worker {
    struct trainer *t;
    float *dense_gradient; /* dense: zero, except for the batch's features while it is sent */
    int64_t start_ns;      /* start of the iteration */
    bool has_asked;        /* it has asked for the next weights */
    struct message reply;
    MPI_Request reply_message;
    struct stream weights;    /* dense, once the reply is GO */
    int64_t weights_start_ns; /* start of the part not marked as received yet */
    size_t n_told;            /* floats marked as received */
};

static void count_sent(struct worker *w, size_t bytes) {
    w->t->account.sent_bytes += bytes;
}

static void count_received(struct worker *w, size_t bytes) {
    w->t->account.received_bytes += bytes;
}

/* Sends the batch's features and a gradient over them; NULL: without. */
static void send_request(struct worker *w, int kind, double loss, const uint32_t *features,
                         const float *gradient) {
    size_t n = w->t->batch.n_unique, n_floats = trainer_local_floats(w->t);
    struct message m = {.kind = kind, .n = (uint32_t)n, .loss = loss};
    MPI_Request requests[] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Isend(&m, sizeof m, MPI_BYTE, 0, TAG_REQUEST, MPI_COMM_WORLD, &requests[0]);
    if (features)
        MPI_Isend(features, (int)n, MPI_UINT32_T, 0, TAG_FEATURES, MPI_COMM_WORLD, &requests[1]);
    if (gradient)
        MPI_Isend(gradient, (int)n_floats, MPI_FLOAT, 0, TAG_GRADIENT, MPI_COMM_WORLD,
                  &requests[2]);
    wait_all(&w->t->group->waiter, 3, requests);
    count_sent(w, sizeof m + (features ? n * sizeof *features : 0) +
                      (gradient ? n_floats * sizeof *gradient : 0));
}

static void ask(struct worker *w) {
    const uint32_t *features = w->t->options->dense_weights ? NULL : w->t->batch.unique;
    send_request(w, MESSAGE_PULL, 0, features, NULL);
    MPI_Irecv(&w->reply, sizeof w->reply, MPI_BYTE, 0, TAG_REPLY, MPI_COMM_WORLD,
              &w->reply_message);
    w->has_asked = true;
}

static void wake_or_back_off(struct worker *w, bool moved) {
    if (moved)
        waiter_wake(&w->t->group->waiter);
    else
        waiter_back_off(&w->t->group->waiter);
}

/* ---- weights ---- */

/* Marks an operator for the floats that have come since weights_start_ns; `n` is their number in
 * all. */
static void tell_received(struct worker *w, size_t n) {
    size_t bytes = (n - w->n_told) * sizeof(float);
    if (!bytes)
        return;
    count_received(w, bytes);
    chokepoint_operator("receive weights", (int64_t)bytes, w->weights_start_ns,
                        chokepoint_now_ns() - w->weights_start_ns);
    w->n_told = n;
}

/* The answer has arrived. */
static void take_reply(struct worker *w) {
    count_received(w, sizeof w->reply);
    w->weights_start_ns = chokepoint_now_ns();
    w->n_told = 0;
    if (w->reply.kind == MESSAGE_GO && w->t->options->dense_weights)
        stream_start(&w->weights, w->t->weights, w->t->n_weights, NULL, w->t->options->prefetch, 0,
                     TAG_WEIGHTS);
}

/* Waits for the answer: GO, or one of the two ends. */
static int await_reply(struct worker *w) {
    if (w->reply_message != MPI_REQUEST_NULL) {
        wait_all(&w->t->group->waiter, 1, &w->reply_message);
        take_reply(w);
    }
    return w->reply.kind;
}

static bool weights_step(struct worker *w) {
    if (stream_is_done(&w->weights))
        return false;
    bool moved = stream_receive_step(&w->weights);
    if (stream_is_done(&w->weights))
        tell_received(w, w->t->n_weights);
    return moved;
}

/* Receives weights while a gradient is sent; true if anything happened. */
static bool prefetch_step(struct worker *w) {
    int complete;
    if (!w->has_asked)
        return false;
    if (w->reply_message == MPI_REQUEST_NULL)
        return w->reply.kind == MESSAGE_GO && weights_step(w);
    MPI_Test(&w->reply_message, &complete, MPI_STATUS_IGNORE);
    if (complete)
        take_reply(w);
    return complete;
}

/* The push is over, and a batch is read before the rest of the weights. */
static void pause_weights(struct worker *w) {
    if (w->has_asked && w->reply_message == MPI_REQUEST_NULL && !stream_is_done(&w->weights))
        tell_received(w, w->weights.done * w->weights.chunk);
}

static void receive_dense(struct worker *w) {
    w->weights_start_ns = chokepoint_now_ns();
    waiter_wake(&w->t->group->waiter);
    while (!stream_is_done(&w->weights))
        wake_or_back_off(w, weights_step(w));
}

static void receive_sparse(struct worker *w) {
    MPI_Request request;
    size_t n = trainer_local_floats(w->t);
    MPI_Irecv(w->t->local_weights, (int)n, MPI_FLOAT, 0, TAG_WEIGHTS, MPI_COMM_WORLD, &request);
    wait_all(&w->t->group->waiter, 1, &request);
    tell_received(w, n);
}

/* Call it after a reply of GO. */
static void receive_weights(struct worker *w) {
    if (w->t->options->dense_weights)
        receive_dense(w);
    else
        receive_sparse(w);
    w->has_asked = false;
}

/* ---- the gradient ---- */

/* Only the batch's features are ever written, so only these are cleared again. */
static void send_dense_gradient(struct worker *w) {
    const struct batch *b = &w->t->batch;
    struct stream s;
    trainer_apply(w->t, w->dense_gradient, b->n_unique, b->unique, w->t->local_gradient, -1);
    stream_start(&s, w->dense_gradient, w->t->n_weights, NULL, w->t->options->prefetch, 0,
                 TAG_GRADIENT);
    waiter_wake(&w->t->group->waiter);
    while (!stream_is_done(&s)) {
        bool sent = stream_send_step(&s);
        wake_or_back_off(w, prefetch_step(w) || sent);
    }
    pause_weights(w);
    trainer_clear(w->t, w->dense_gradient);
    count_sent(w, w->t->n_weights * sizeof(float));
}

static void send_gradient(struct worker *w, double loss) {
    struct trainer *t = w->t;
    size_t n = t->options->dense_gradients ? t->n_weights : trainer_local_floats(t);
    int64_t start = chokepoint_now_ns();
    if (t->options->dense_gradients) {
        send_request(w, MESSAGE_PUSH, loss, NULL, NULL);
        if (t->options->prefetch)
            ask(w);
        send_dense_gradient(w);
    } else {
        const uint32_t *features = t->options->dense_weights ? t->batch.unique : NULL;
        send_request(w, MESSAGE_PUSH, loss, features, t->local_gradient);
    }
    chokepoint_operator("send gradient", (int64_t)(n * sizeof(float)), start,
                        chokepoint_now_ns() - start);
}

/* No more batches: tells the server when it listens, after all that it may still send. */
static int stop_failed(struct worker *w) {
    int kind = w->has_asked ? await_reply(w) : MESSAGE_GO;
    if (kind != MESSAGE_GO)
        return kind; /* nobody waits for that batch any more */
    if (w->has_asked)
        receive_weights(w);
    send_request(w, MESSAGE_FAILED, 0, NULL, NULL);
    return MESSAGE_FAILED;
}

/* Whether the answer to the last request is there and ends the training. */
static bool is_over(struct worker *w) {
    if (w->has_asked && w->reply_message != MPI_REQUEST_NULL)
        prefetch_step(w);
    return w->has_asked && w->reply_message == MPI_REQUEST_NULL && w->reply.kind != MESSAGE_GO;
}

/* Reads a batch, asks for weights, and waits for the answer: GO, or one of the two ends. */
static int begin_iteration(struct worker *w, uint64_t number) {
    if (is_over(w))
        return w->reply.kind;
    const struct sgd_options *o = w->t->options;
    /* With backup workers it does not know the progress of the others. */
    const char *pause = o->mode != SGD_SYNC || o->backup ? NULL
                        : lead_tests_after(w->t, number) ? "testing"
                        : lead_saves_after(w->t, number) ? "checkpoint"
                                                         : NULL;
    if (pause)
        chokepoint_phase(pause);
    if (trainer_read_batch(w->t) < 0)
        return stop_failed(w);
    if (!w->has_asked)
        ask(w);
    int kind = await_reply(w);
    if (pause) {
        chokepoint_phase("training");
        chokepoint_iteration_begin();
        w->start_ns = chokepoint_now_ns();
    }
    return kind;
}

int worker_run(struct trainer *t) {
    struct worker w = {.t = t, .reply_message = MPI_REQUEST_NULL};
    if (t->options->dense_gradients && !(w.dense_gradient = calloc(t->n_weights, sizeof(float))))
        rank_group_say(t->group, "not enough memory for a dense gradient");
    bool able = !t->options->dense_gradients || w.dense_gradient;
    if (!able)
        send_request(&w, MESSAGE_FAILED, 0, NULL, NULL);
    int kind = MESSAGE_FAILED;
    chokepoint_phase("training");
    chokepoint_iteration_begin();
    w.start_ns = chokepoint_now_ns();
    uint64_t before = t->options->mode == SGD_SYNC ? t->resumed.updates : 0;
    for (uint64_t i = before; able && (kind = begin_iteration(&w, i)) == MESSAGE_GO; i++) {
        receive_weights(&w);
        if (t->options->dense_weights)
            trainer_gather(t, t->weights);
        double loss = trainer_compute(t);
        send_gradient(&w, loss);
        trainer_finish_iteration(t, i + 1, &w.start_ns, loss);
    }
    free(w.dense_gradient);
    return kind == MESSAGE_STOP ? 0 : -ECANCELED;
}
