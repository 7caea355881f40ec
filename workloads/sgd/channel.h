/* SPDX-License-Identifier: MIT */
/*
 * The server's side of one worker: a state machine that is stepped and never blocks, so that one
 * thread serves all workers and computes in between. Three states wait for the server: PULLED
 * (answer), OFFERED (dense: take the gradient in), PUSHED (sparse: apply, then listen).
 *
 * The intake of a dense gradient runs beside these states, so the next request is heard meanwhile:
 * a worker may get the next weights before all of its gradient has come. The weights stay behind
 * the gradient except for the chunks in flight. A worker can only begin its next gradient when it
 * has all weights, so at most one of its gradients can be in MPI's memory.
 */
#ifndef CHOKEPOINT_WORKLOADS_SGD_CHANNEL_H
#define CHOKEPOINT_WORKLOADS_SGD_CHANNEL_H

#include "workloads/common/stream.h"
#include "workloads/sgd/options.h"
#include "workloads/sgd/protocol.h"

enum channel_state {
    CHANNEL_LISTENING, /* for a request */
    CHANNEL_FEATURES,  /* sparse: the pulled features are arriving */
    CHANNEL_PULLED,    /* waits for channel_answer() */
    CHANNEL_ANSWERING, /* the weights are on their way */
    CHANNEL_GRADIENT,  /* sparse: the gradient is arriving */
    CHANNEL_OFFERED,   /* dense: waits for channel_take_dense(), when no intake is busy */
    CHANNEL_PUSHED,    /* sparse: waits for channel_listen(), when the gradient is applied */
    CHANNEL_ENDING,    /* the worker has been told to stop */
    CHANNEL_CLOSED,    /* the worker has stopped */
    CHANNEL_FAILED,    /* the worker has failed, or sent an invalid message */
};

enum intake_state {
    INTAKE_IDLE,
    INTAKE_TAKING, /* the gradient is arriving and applied chunk by chunk */
    INTAKE_TAKEN,  /* all of it is applied; the server makes it idle */
};

/* A dense gradient that is arriving. */
struct intake {
    enum intake_state state;
    struct stream stream;
    float *stage; /* STREAM_STAGE floats */
    float *model;
    float scale;
    int64_t start_ns, applied_ns; /* when its first chunk was applied; total time of applying */
};

struct channel {
    int peer;
    enum channel_state state;
    bool dense_weights, dense_gradients;
    bool eager;                 /* kind of stream in both directions */
    uint32_t n_features, width; /* of the model */
    struct message request, reply;
    MPI_Request request_message, reply_message, payload, listed; /* listed: features */
    uint32_t *features;   /* request.n: the features last pulled, or pushed (dense-down) */
    float *values;        /* request.n x width: the weights sent, then the gradient received */
    size_t capacity;      /* features */
    uint64_t turn;        /* PULLED: its number in the queue */
    uint64_t pulls;       /* answered pulls */
    float *stage;         /* dense: STREAM_STAGE floats for the answer */
    struct stream stream; /* dense: the answer */
    struct intake intake; /* dense */
    uint64_t pulled_at;   /* version of the model in the last answer */
    uint64_t pushed_from; /* version that the current gradient was computed from */
    double loss;          /* loss of its batch */
    uint64_t sent_bytes, received_bytes;
};

/* Opens a channel for a model of n_features x width weights. Allocates dense stages. Returns 0 or
 * -ENOMEM; call channel_release() in any case. */
int channel_init(struct channel *ret_channel, int peer, const struct sgd_options *options,
                 uint32_t n_features, uint32_t width);
void channel_release(struct channel *channel);

/* Waits for the next request: at the start, and from PUSHED. */
void channel_listen(struct channel *channel);

/* Goes on as far as possible without waiting; true if anything happened. */
bool channel_step(struct channel *channel);

/*
 * From PULLED: sends the weights. `staged`: the model will change while they are sent (async
 * dense); else it must not change until the channel has left ANSWERING. False if the worker's
 * request is invalid.
 */
bool channel_answer(struct channel *channel, float *model, uint64_t version, bool staged);

/* From PULLED: tells the worker to end. */
void channel_end(struct channel *channel, enum message_kind kind);

/* From OFFERED: model -= scale * gradient as it arrives, until the intake is TAKEN. Listens. */
void channel_take_dense(struct channel *channel, float *model, float scale);

#endif
