/* SPDX-License-Identifier: MIT */
#include "workloads/common/stream.h"

#include <string.h>

void stream_start(struct stream *s, float *vector, size_t n, float *stage, bool eager, int peer,
                  int tag) {
    size_t chunk = eager ? STREAM_EAGER_CHUNK : STREAM_CHUNK;
    *s = (struct stream){.peer = peer,
                         .tag = tag,
                         .vector = vector,
                         .n = n,
                         .stage = stage,
                         .chunk = chunk,
                         .window = STREAM_STAGE / chunk};
    for (int i = 0; i < STREAM_WINDOW; i++)
        s->requests[i] = MPI_REQUEST_NULL;
}

static size_t n_chunks(const struct stream *s) {
    return s->n ? (s->n - 1) / s->chunk + 1 : 0;
}

bool stream_is_done(const struct stream *s) {
    return s->done == n_chunks(s);
}

static int chunk_length(const struct stream *s, size_t chunk) {
    size_t left = s->n - chunk * s->chunk;
    return (int)(left < s->chunk ? left : s->chunk);
}

static float *chunk_buffer(const struct stream *s, size_t chunk) {
    return s->stage ? s->stage + chunk % s->window * s->chunk : s->vector + chunk * s->chunk;
}

static bool can_post(const struct stream *s) {
    return s->posted < n_chunks(s) && s->posted - s->done < s->window;
}

/* Tests only the oldest: chunks complete in order, and any test makes progress on all. */
static bool oldest_is_complete(struct stream *s) {
    int complete = 0;
    if (s->done < s->posted)
        MPI_Test(&s->requests[s->done % s->window], &complete, MPI_STATUS_IGNORE);
    return complete;
}

bool stream_send_step(struct stream *s) {
    for (; can_post(s); s->posted++) {
        float *buffer = chunk_buffer(s, s->posted);
        int n = chunk_length(s, s->posted);
        if (s->stage)
            memcpy(buffer, s->vector + s->posted * s->chunk, (size_t)n * sizeof *buffer);
        MPI_Isend(buffer, n, MPI_FLOAT, s->peer, s->tag, MPI_COMM_WORLD,
                  &s->requests[s->posted % s->window]);
    }
    bool complete = oldest_is_complete(s);
    s->done += complete;
    return complete;
}

static void post_receives(struct stream *s) {
    for (; can_post(s); s->posted++)
        MPI_Irecv(chunk_buffer(s, s->posted), chunk_length(s, s->posted), MPI_FLOAT, s->peer,
                  s->tag, MPI_COMM_WORLD, &s->requests[s->posted % s->window]);
}

bool stream_receive_step(struct stream *s) {
    post_receives(s);
    bool complete = oldest_is_complete(s);
    s->done += complete;
    return complete;
}

bool stream_peek(struct stream *s, const float **ret_chunk, size_t *ret_offset, size_t *ret_n) {
    post_receives(s);
    if (!oldest_is_complete(s))
        return false;
    *ret_chunk = chunk_buffer(s, s->done);
    *ret_offset = s->done * s->chunk;
    *ret_n = (size_t)chunk_length(s, s->done);
    return true;
}

void stream_drop(struct stream *s) {
    s->done++;
    post_receives(s);
}
