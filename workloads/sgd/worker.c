/* SPDX-License-Identifier: MIT */
/*
 * A worker. Sync or async is all the server's doing: a worker asks, is answered sooner or later,
 * computes, sends. Only the name of the phase in which it waits for a sync test needs to know the
 * mode.
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
    float *dense_gradient; /* dense: zero but for the batch's features while it is sent */
    int64_t start_ns;      /* of the iteration */
};

static void count_sent(struct worker *w, size_t bytes) {
    w->t->account.sent_bytes += bytes;
}

static void count_received(struct worker *w, size_t bytes) {
    w->t->account.received_bytes += bytes;
}

static void send_request(struct worker *w, int kind, double loss, const void *payload, size_t n,
                         MPI_Datatype type, int tag) {
    struct message m = {.kind = kind, .n = (uint32_t)w->t->batch.n_unique, .loss = loss};
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Isend(&m, sizeof m, MPI_BYTE, 0, TAG_REQUEST, MPI_COMM_WORLD, &requests[0]);
    if (payload)
        MPI_Isend(payload, (int)n, type, 0, tag, MPI_COMM_WORLD, &requests[1]);
    wait_all(&w->t->crew->waiter, 2, requests);
    count_sent(w, sizeof m + (payload ? n * sizeof(float) : 0));
}

static void send_pull(struct worker *w) {
    const uint32_t *features = w->t->options->dense ? NULL : w->t->batch.unique;
    send_request(w, MESSAGE_PULL, 0, features, w->t->batch.n_unique, MPI_UINT32_T, TAG_FEATURES);
}

static int receive_reply(struct worker *w) {
    struct message m;
    MPI_Request request;
    MPI_Irecv(&m, sizeof m, MPI_BYTE, 0, TAG_REPLY, MPI_COMM_WORLD, &request);
    wait_all(&w->t->crew->waiter, 1, &request);
    count_received(w, sizeof m);
    return m.kind;
}

static void run_stream(struct worker *w, struct stream *s, bool (*step)(struct stream *)) {
    waiter_wake(&w->t->crew->waiter);
    while (!stream_is_done(s)) {
        if (step(s))
            waiter_wake(&w->t->crew->waiter);
        else
            waiter_nap(&w->t->crew->waiter);
    }
}

static void receive_weights(struct worker *w) {
    struct trainer *t = w->t;
    struct stream s;
    MPI_Request request;
    size_t n = t->options->dense ? t->n_weights : trainer_local_floats(t);
    int64_t start = chokepoint_now_ns();
    if (t->options->dense) {
        stream_start(&s, t->weights, n, NULL, 0, TAG_WEIGHTS);
        run_stream(w, &s, stream_receive_step);
        trainer_gather(t, t->weights);
    } else {
        MPI_Irecv(t->local_weights, (int)n, MPI_FLOAT, 0, TAG_WEIGHTS, MPI_COMM_WORLD, &request);
        wait_all(&t->crew->waiter, 1, &request);
    }
    count_received(w, n * sizeof(float));
    chokepoint_operator("receive weights", (int64_t)(n * sizeof(float)), start,
                        chokepoint_now_ns() - start);
}

/* Only what the batch has touched is ever written, so only that is cleared again. */
static void send_dense_gradient(struct worker *w) {
    const struct batch *b = &w->t->batch;
    struct stream s;
    trainer_apply(w->t, w->dense_gradient, b->n_unique, b->unique, w->t->local_gradient, -1);
    stream_start(&s, w->dense_gradient, w->t->n_weights, NULL, 0, TAG_GRADIENT);
    run_stream(w, &s, stream_send_step);
    trainer_clear(w->t, w->dense_gradient);
    count_sent(w, w->t->n_weights * sizeof(float));
}

static void send_gradient(struct worker *w, double loss) {
    struct trainer *t = w->t;
    size_t n = t->options->dense ? t->n_weights : trainer_local_floats(t);
    int64_t start = chokepoint_now_ns();
    if (t->options->dense) {
        send_request(w, MESSAGE_PUSH, loss, NULL, 0, MPI_FLOAT, 0);
        send_dense_gradient(w);
    } else {
        send_request(w, MESSAGE_PUSH, loss, t->local_gradient, n, MPI_FLOAT, TAG_GRADIENT);
    }
    chokepoint_operator("send gradient", (int64_t)(n * sizeof(float)), start,
                        chokepoint_now_ns() - start);
}

/* Reads, asks, and waits for the answer: GO, or one of the two ends. */
static int begin_iteration(struct worker *w, uint64_t number) {
    bool testing = w->t->options->mode == SGD_SYNC && lead_tests_after(w->t, number);
    if (testing)
        chokepoint_phase("testing");
    if (trainer_read_batch(w->t) < 0) {
        send_request(w, MESSAGE_FAILED, 0, NULL, 0, MPI_FLOAT, 0);
        return MESSAGE_FAILED;
    }
    send_pull(w);
    int kind = receive_reply(w);
    if (testing) {
        chokepoint_phase("training");
        chokepoint_iteration_begin();
        w->start_ns = chokepoint_now_ns();
    }
    return kind;
}

int worker_run(struct trainer *t) {
    struct worker w = {.t = t};
    if (t->options->dense && !(w.dense_gradient = calloc(t->n_weights, sizeof(float))))
        crew_say(t->crew, "not enough memory for a dense gradient");
    bool able = !t->options->dense || w.dense_gradient;
    if (!able)
        send_request(&w, MESSAGE_FAILED, 0, NULL, 0, MPI_FLOAT, 0);
    int kind = MESSAGE_FAILED;
    chokepoint_phase("training");
    chokepoint_iteration_begin();
    w.start_ns = chokepoint_now_ns();
    for (uint64_t i = 0; able && (kind = begin_iteration(&w, i)) == MESSAGE_GO; i++) {
        receive_weights(&w);
        double loss = trainer_compute(t);
        send_gradient(&w, loss);
        trainer_finish_iteration(t, i + 1, &w.start_ns, loss);
    }
    free(w.dense_gradient);
    return kind == MESSAGE_STOP ? 0 : -ECANCELED;
}
