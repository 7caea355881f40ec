/* SPDX-License-Identifier: MIT */
/*
 * The server's side of a worker that pulls while it pushes (workloads/sgd/channel.h), when the
 * worker stops in the middle of its gradient: the next weights come as far as the gradient has,
 * plus the chunks in flight. When it continues, all weights come, and each was changed by the
 * gradient once. Needs 2 ranks.
 */
#include <stdio.h>
#include <stdlib.h>

#include "workloads/common/wait.h"
#include "workloads/sgd/channel.h"

#define N_CHUNKS (4 * STREAM_WINDOW)
#define HALF (N_CHUNKS / 2)
#define N_FLOATS (N_CHUNKS * STREAM_EAGER_CHUNK)
#define TAG_GO_ON 100
#define LOOKS 10000 /* looks at a channel that must not move any more */

static struct waiter waiter;
static float *model; /* the server's, or what the worker was sent last */

static void expect(int condition, const char *what) {
    if (condition)
        return;
    fprintf(stderr, "prefetch_bound: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- the server ---- */

static void step(struct channel *c) {
    if (channel_step(c))
        waiter_wake(&waiter);
    else
        waiter_back_off(&waiter);
    expect(c->state != CHANNEL_FAILED, "the channel fails");
    expect(c->state != CHANNEL_ANSWERING || c->intake.state != INTAKE_TAKING ||
               c->stream.posted <= c->intake.stream.done + STREAM_WINDOW,
           "weights are ahead of the gradient by more than the chunks in flight");
}

static void step_until(struct channel *c, enum channel_state state) {
    while (c->state != state)
        step(c);
}

static void serve_first_weights(struct channel *c) {
    channel_listen(c);
    step_until(c, CHANNEL_PULLED);
    expect(channel_answer(c, model, 0, true), "the first pull is not answered");
    step_until(c, CHANNEL_OFFERED);
}

static void serve_during_push(struct channel *c) {
    channel_take_dense(c, model, 1);
    step_until(c, CHANNEL_PULLED);
    expect(channel_answer(c, model, 0, true), "the second pull is not answered");
    while (c->intake.stream.done < HALF || c->stream.done <= HALF)
        step(c);
    for (int i = 0; i < LOOKS; i++)
        channel_step(c);
    expect(c->intake.stream.done == HALF, "the worker does not stop in the middle");
    expect(c->state == CHANNEL_ANSWERING && c->stream.done == HALF + 1,
           "weights go on while the gradient does not");
}

static void serve_the_rest(struct channel *c) {
    MPI_Send(NULL, 0, MPI_BYTE, 1, TAG_GO_ON, MPI_COMM_WORLD);
    while (c->state != CHANNEL_PULLED || c->intake.state != INTAKE_TAKEN)
        step(c);
    channel_end(c, MESSAGE_STOP);
    step_until(c, CHANNEL_CLOSED);
    for (size_t i = 0; i < N_FLOATS; i++)
        expect(model[i] == -1, "a weight has not been moved once");
}

static void serve(void) {
    const struct sgd_options options = {
        .dense_weights = true, .dense_gradients = true, .prefetch = true};
    struct channel c;
    expect(channel_init(&c, 1, &options, N_FLOATS, 1) == 0, "no channel");
    serve_first_weights(&c);
    serve_during_push(&c);
    serve_the_rest(&c);
    channel_release(&c);
}

/* ---- the worker ---- */

static void wait_for(int n, MPI_Request *requests) {
    wait_all(&waiter, n, requests);
}

static void ask(int kind) {
    struct message m = {.kind = kind};
    MPI_Request request;
    MPI_Isend(&m, sizeof m, MPI_BYTE, 0, TAG_REQUEST, MPI_COMM_WORLD, &request);
    wait_for(1, &request);
}

static void await_reply(int kind) {
    struct message m;
    MPI_Request request;
    MPI_Irecv(&m, sizeof m, MPI_BYTE, 0, TAG_REPLY, MPI_COMM_WORLD, &request);
    wait_for(1, &request);
    expect(m.kind == kind, "another reply");
}

static void begin_weights(MPI_Request *requests) {
    for (size_t i = 0; i < N_CHUNKS; i++)
        MPI_Irecv(model + i * STREAM_EAGER_CHUNK, STREAM_EAGER_CHUNK, MPI_FLOAT, 0, TAG_WEIGHTS,
                  MPI_COMM_WORLD, &requests[i]);
}

static void send_half(const float *gradient) {
    static MPI_Request requests[HALF];
    for (size_t i = 0; i < HALF; i++)
        MPI_Isend(gradient + i * STREAM_EAGER_CHUNK, STREAM_EAGER_CHUNK, MPI_FLOAT, 0, TAG_GRADIENT,
                  MPI_COMM_WORLD, &requests[i]);
    wait_for(HALF, requests);
}

static void work(void) {
    static MPI_Request weights[N_CHUNKS];
    MPI_Request go_on;
    float *gradient = malloc(N_FLOATS * sizeof *gradient);
    expect(gradient != NULL, "no memory");
    for (size_t i = 0; i < N_FLOATS; i++)
        gradient[i] = 1;
    ask(MESSAGE_PULL);
    await_reply(MESSAGE_GO);
    begin_weights(weights);
    wait_for(N_CHUNKS, weights);
    ask(MESSAGE_PUSH);
    ask(MESSAGE_PULL);
    begin_weights(weights);
    send_half(gradient);
    await_reply(MESSAGE_GO);
    MPI_Irecv(NULL, 0, MPI_BYTE, 0, TAG_GO_ON, MPI_COMM_WORLD, &go_on);
    wait_for(1, &go_on);
    send_half(gradient + HALF * STREAM_EAGER_CHUNK);
    wait_for(N_CHUNKS, weights);
    ask(MESSAGE_PULL);
    await_reply(MESSAGE_STOP);
    free(gradient);
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    waiter_begin(&waiter, false);
    model = calloc(N_FLOATS, sizeof *model);
    expect(model != NULL, "no memory");
    if (rank == 0)
        serve();
    else
        work();
    free(model);
    MPI_Finalize();
    return 0;
}
