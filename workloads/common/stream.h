/* SPDX-License-Identifier: MIT */
/*
 * A long vector of floats sent or received in chunks with a few in flight, from rank to rank: no
 * collective, no compression, every byte over the sender's link. Nothing here blocks: step, look,
 * step. A staged stream goes through buffers of its own: a sender's vector may then change
 * meanwhile (what a chunk holds is what it held when it was posted), a receiver hands out chunk by
 * chunk and keeps no vector.
 *
 * A long message is sent when its receiver has agreed. Where two ranks stream to each other over
 * one TCP connection, that word waits behind all that is under way in its direction, and half of
 * the link lies idle. Chunks of an eager stream are so short that MPI sends them unasked; what
 * comes before it is received lies in MPI's memory, at worst all of the vector. Both sides must
 * agree whether it is one.
 */
#ifndef CHOKEPOINT_WORKLOADS_STREAM_H
#define CHOKEPOINT_WORKLOADS_STREAM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#define STREAM_STAGE (1 << 20)        /* floats in flight at most: 4 MiB */
#define STREAM_CHUNK (1 << 18)        /* floats: 1 MiB */
#define STREAM_EAGER_CHUNK (15 << 10) /* with a head within the 64 KiB of Open MPI's TCP */
#define STREAM_WINDOW (STREAM_STAGE / STREAM_EAGER_CHUNK) /* most chunks in flight */

struct stream {
    int peer, tag;
    float *vector; /* NULL: a staged receiver */
    size_t n;      /* floats */
    float *stage;  /* STREAM_STAGE floats, the caller's; NULL: straight from or to the vector */
    size_t chunk, window; /* floats; chunks in flight */
    size_t posted, done;  /* chunks */
    MPI_Request requests[STREAM_WINDOW];
};

void stream_start(struct stream *stream, float *vector, size_t n, float *stage, bool eager,
                  int peer, int tag);
bool stream_is_done(const struct stream *stream);

/* Each posts what fits the window and returns whether the oldest chunk has completed meanwhile. */
bool stream_send_step(struct stream *stream);
bool stream_receive_step(struct stream *stream);

/* Receiver only: takes no chunk off; true when the oldest one is there: its place and length. */
bool stream_peek(struct stream *stream, const float **ret_chunk, size_t *ret_offset, size_t *ret_n);
/* Takes the oldest chunk off, after stream_peek(), so that its buffer is used again. */
void stream_drop(struct stream *stream);

#endif
