/* SPDX-License-Identifier: MIT */
/*
 * The server's side of one worker: a state machine that is stepped and never blocks, so that one
 * thread serves all workers and computes in between. In three states it is the server's turn:
 * PULLED (answer), OFFERED (dense: take the gradient in), PUSHED (sparse: apply, then listen).
 *
 * A dense gradient is taken in beside that, as the intake says, while the next request is already
 * listened to: a worker may be sent the next weights before all of its gradient has come. They stay
 * behind it, but for the chunks in flight: a worker can only begin its next gradient when it has
 * all of them, so no more than one gradient of it can lie in MPI's memory.
 */
#ifndef CHOKEPOINT_WORKLOADS_SGD_CHANNEL_H
#define CHOKEPOINT_WORKLOADS_SGD_CHANNEL_H

#include "workloads/common/stream.h"
#include "workloads/sgd/options.h"
#include "workloads/sgd/protocol.h"

enum channel_state {
    CHANNEL_LISTENING, /* for a request */
    CHANNEL_FEATURES,  /* sparse: the pulled features are arriving */
    CHANNEL_PULLED,    /* the server's turn: channel_answer() */
    CHANNEL_ANSWERING, /* the weights are on their way */
    CHANNEL_GRADIENT,  /* sparse: the gradient is arriving */
    CHANNEL_OFFERED,   /* dense, the server's turn: channel_take_dense() when no intake is busy */
    CHANNEL_PUSHED,    /* sparse, the server's turn: channel_listen() when it has applied it */
    CHANNEL_ENDING,    /* the worker has been told to stop */
    CHANNEL_CLOSED,    /* it has stopped */
    CHANNEL_FAILED,    /* it has failed, or sent nonsense */
};

enum intake_state {
    INTAKE_IDLE,
    INTAKE_TAKING, /* the gradient is arriving and applied chunk by chunk */
    INTAKE_TAKEN,  /* all of it is: the server's turn, to make it idle */
};

/* A dense gradient on its way in. */
struct intake {
    enum intake_state state;
    struct stream stream;
    float *stage; /* STREAM_STAGE floats */
    float *model;
    float scale;
    int64_t start_ns, applied_ns; /* when its first chunk was applied; what applying took so far */
};

struct channel {
    int peer;
    enum channel_state state;
    bool dense_weights, dense_gradients;
    bool eager;                 /* what streams of both directions are */
    uint32_t n_features, width; /* of the model */
    struct message request, reply;
    MPI_Request request_message, reply_message, payload, listed; /* listed: features */
    uint32_t *features;   /* request.n: what the worker pulled last, or pushes (dense-down) */
    float *values;        /* as many times width: the weights sent, then the gradient received */
    size_t capacity;      /* features */
    uint64_t turn;        /* PULLED: its number in the queue */
    uint64_t pulls;       /* answered */
    float *stage;         /* dense: STREAM_STAGE floats of the answer */
    struct stream stream; /* dense: the answer */
    struct intake intake; /* dense */
    uint64_t pulled_at;   /* version of the model in the last answer */
    uint64_t pushed_from; /* ... and in the one that the gradient in hand was made from */
    double loss;          /* of its batch */
    uint64_t sent_bytes, received_bytes;
};

/* Opens a channel for a model of n_features x width weights. Allocates dense stages. Returns 0 or
 * -ENOMEM; channel_release() in any case. */
int channel_init(struct channel *ret_channel, int peer, const struct sgd_options *options,
                 uint32_t n_features, uint32_t width);
void channel_release(struct channel *channel);

/* Waits for the next request: at the start, and from PUSHED. */
void channel_listen(struct channel *channel);

/* Moves on as far as it goes without waiting; true if anything happened. */
bool channel_step(struct channel *channel);

/*
 * From PULLED: the weights of the model. `staged`: the model will change while they are sent (async
 * dense); else it must stay as it is until the channel has left ANSWERING. False if the worker
 * asked for nonsense.
 */
bool channel_answer(struct channel *channel, float *model, uint64_t version, bool staged);

/* From PULLED: the end. */
void channel_end(struct channel *channel, enum message_kind kind);

/* From OFFERED: model -= scale * gradient as it arrives, until the intake says TAKEN. Listens. */
void channel_take_dense(struct channel *channel, float *model, float scale);

#endif
