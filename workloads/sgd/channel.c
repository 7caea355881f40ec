/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/mark/chokepoint.h"

/* After a failure channel_release() frees what was allocated. */
static int allocate_stages(struct channel *c) {
    size_t bytes = STREAM_STAGE * sizeof(float);
    if (c->dense_weights)
        c->stage = malloc(bytes);
    if (c->dense_gradients)
        c->intake.stage = malloc(bytes);
    bool lacks = (c->dense_weights && !c->stage) || (c->dense_gradients && !c->intake.stage);
    return lacks ? -ENOMEM : 0;
}

int channel_init(struct channel *ret, int peer, const struct sgd_options *options,
                 uint32_t n_features, uint32_t width) {
    *ret = (struct channel){.peer = peer,
                            .dense_weights = options->dense_weights,
                            .dense_gradients = options->dense_gradients,
                            .eager = options->prefetch,
                            .n_features = n_features,
                            .width = width,
                            .request_message = MPI_REQUEST_NULL,
                            .reply_message = MPI_REQUEST_NULL,
                            .payload = MPI_REQUEST_NULL,
                            .listed = MPI_REQUEST_NULL};
    return allocate_stages(ret);
}

void channel_release(struct channel *c) {
    free(c->features);
    free(c->values);
    free(c->stage);
    free(c->intake.stage);
}

/* Floats in a whole model or gradient. */
static size_t n_weights(const struct channel *c) {
    return (size_t)c->n_features * c->width;
}

static bool is_complete(MPI_Request *request) {
    int complete;
    MPI_Test(request, &complete, MPI_STATUS_IGNORE);
    return complete;
}

void channel_listen(struct channel *c) {
    MPI_Irecv(&c->request, sizeof c->request, MPI_BYTE, c->peer, TAG_REQUEST, MPI_COMM_WORLD,
              &c->request_message);
    c->state = CHANNEL_LISTENING;
}

static bool reserve_features(struct channel *c, size_t n) {
    if (n <= c->capacity)
        return true;
    n += n / 4;
    uint32_t *features = reallocarray(c->features, n, sizeof *features);
    if (features)
        c->features = features;
    float *values = reallocarray(c->values, n * c->width, sizeof *values);
    if (values)
        c->values = values;
    if (!features || !values)
        return false;
    c->capacity = n;
    return true;
}

/* The features of a request; false if they are too many. */
static bool receive_features(struct channel *c) {
    if (c->request.n > c->n_features || !reserve_features(c, c->request.n))
        return false;
    MPI_Irecv(c->features, (int)c->request.n, MPI_UINT32_T, c->peer, TAG_FEATURES, MPI_COMM_WORLD,
              &c->listed);
    c->received_bytes += c->request.n * sizeof *c->features;
    return true;
}

static enum channel_state pull(struct channel *c) {
    return c->dense_weights      ? CHANNEL_PULLED
           : receive_features(c) ? CHANNEL_FEATURES
                                 : CHANNEL_FAILED;
}

static void begin_push(struct channel *c) {
    c->pushed_from = c->pulled_at;
    c->loss = c->request.loss;
}

static enum channel_state push(struct channel *c) {
    if (c->dense_gradients)
        return CHANNEL_OFFERED;
    if (c->dense_weights ? !receive_features(c) : c->request.n > c->capacity)
        return CHANNEL_FAILED;
    size_t n = (size_t)c->request.n * c->width;
    MPI_Irecv(c->values, (int)n, MPI_FLOAT, c->peer, TAG_GRADIENT, MPI_COMM_WORLD, &c->payload);
    c->received_bytes += n * sizeof *c->values;
    begin_push(c);
    return CHANNEL_GRADIENT;
}

static enum channel_state take_request(struct channel *c) {
    c->received_bytes += sizeof c->request;
    return c->request.kind == MESSAGE_PULL   ? pull(c)
           : c->request.kind == MESSAGE_PUSH ? push(c)
                                             : CHANNEL_FAILED;
}

/* Whether an eager answer is ahead of the gradient that the same worker is still sending. */
static bool is_ahead(const struct channel *c) {
    return c->eager && c->intake.state == INTAKE_TAKING && c->stream.done > c->intake.stream.done;
}

/* Reply and weights are sent: it is the worker's turn. */
static bool answer_step(struct channel *c) {
    bool moved = c->dense_weights && !is_ahead(c) && !stream_is_done(&c->stream) &&
                 stream_send_step(&c->stream);
    if (c->dense_weights && !stream_is_done(&c->stream))
        return moved;
    if (!is_complete(&c->reply_message) || !is_complete(&c->payload))
        return moved;
    channel_listen(c);
    return true;
}

/* Applies a chunk of an arriving gradient; returns its floats, 0 if no chunk is there. */
static size_t take_chunk(struct intake *t) {
    const float *chunk;
    size_t offset, n;
    if (stream_is_done(&t->stream) || !stream_peek(&t->stream, &chunk, &offset, &n))
        return 0;
    int64_t start = chokepoint_now_ns();
    for (size_t i = 0; t->scale != 0 && i < n; i++)
        t->model[offset + i] -= t->scale * chunk[i];
    t->start_ns = t->start_ns ? t->start_ns : start;
    t->applied_ns += chokepoint_now_ns() - start;
    stream_drop(&t->stream);
    return n;
}

/* Takes about a long chunk at a time, so that one gradient does not delay the others. */
static bool take_step(struct intake *t) {
    size_t taken = 0;
    if (t->state != INTAKE_TAKING)
        return false;
    for (size_t n = 1; n > 0 && taken < STREAM_CHUNK; taken += n)
        n = take_chunk(t);
    if (stream_is_done(&t->stream))
        t->state = INTAKE_TAKEN;
    return taken > 0;
}

/* Whether the current features are strictly ascending and within the model. */
static bool is_sorted(const struct channel *c) {
    for (size_t i = 0; i < c->request.n; i++)
        if (c->features[i] >= c->n_features || (i > 0 && c->features[i] <= c->features[i - 1]))
            return false;
    return true;
}

static bool move_if(bool condition, struct channel *c, enum channel_state state) {
    if (condition)
        c->state = state;
    return condition;
}

static bool request_step(struct channel *c) {
    switch (c->state) {
    case CHANNEL_LISTENING:
        if (!is_complete(&c->request_message))
            return false;
        c->state = take_request(c);
        return true;
    case CHANNEL_FEATURES:
        return move_if(is_complete(&c->listed), c, CHANNEL_PULLED);
    case CHANNEL_ANSWERING:
        return answer_step(c);
    case CHANNEL_GRADIENT:
        if (!is_complete(&c->payload) || !is_complete(&c->listed))
            return false;
        return move_if(true, c, is_sorted(c) ? CHANNEL_PUSHED : CHANNEL_FAILED);
    case CHANNEL_ENDING:
        return move_if(is_complete(&c->reply_message), c, CHANNEL_CLOSED);
    default:
        return false;
    }
}

bool channel_step(struct channel *c) {
    bool took = take_step(&c->intake);
    return request_step(c) || took;
}

static void send_reply(struct channel *c, enum message_kind kind) {
    c->reply = (struct message){.kind = kind, .n = c->request.n};
    MPI_Isend(&c->reply, sizeof c->reply, MPI_BYTE, c->peer, TAG_REPLY, MPI_COMM_WORLD,
              &c->reply_message);
    c->sent_bytes += sizeof c->reply;
}

static void gather(struct channel *c, const float *model) {
    size_t width = c->width;
    for (size_t i = 0; i < c->request.n; i++)
        memcpy(c->values + i * width, model + c->features[i] * width, width * sizeof *model);
}

bool channel_answer(struct channel *c, float *model, uint64_t version, bool staged) {
    if (!c->dense_weights && !is_sorted(c)) {
        c->state = CHANNEL_FAILED;
        return false;
    }
    if (!c->dense_weights)
        gather(c, model);
    send_reply(c, MESSAGE_GO);
    c->pulled_at = version;
    c->pulls++;
    c->state = CHANNEL_ANSWERING;
    size_t n = c->dense_weights ? n_weights(c) : (size_t)c->request.n * c->width;
    if (c->dense_weights)
        stream_start(&c->stream, model, n, staged ? c->stage : NULL, c->eager, c->peer,
                     TAG_WEIGHTS);
    else
        MPI_Isend(c->values, (int)n, MPI_FLOAT, c->peer, TAG_WEIGHTS, MPI_COMM_WORLD, &c->payload);
    c->sent_bytes += n * sizeof(float);
    return true;
}

void channel_end(struct channel *c, enum message_kind kind) {
    send_reply(c, kind);
    c->state = CHANNEL_ENDING;
}

void channel_take_dense(struct channel *c, float *model, float scale) {
    struct intake *t = &c->intake;
    *t = (struct intake){.state = INTAKE_TAKING, .stage = t->stage, .model = model, .scale = scale};
    stream_start(&t->stream, NULL, n_weights(c), t->stage, c->eager, c->peer, TAG_GRADIENT);
    c->received_bytes += n_weights(c) * sizeof(float);
    begin_push(c);
    channel_listen(c);
}
