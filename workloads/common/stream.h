/* SPDX-License-Identifier: MIT */
/*
 * A long vector of floats sent or received in chunks with a few in flight, from rank to rank: no
 * collective, no compression, every byte over the sender's link. Nothing here blocks: the caller
 * steps and checks. A staged stream uses buffers of its own: the sender's vector may change
 * meanwhile (a chunk keeps its values from when it was posted), and a receiver passes on chunks and
 * keeps no vector.
 *
 * MPI sends a long message only after the receiver has agreed. If two ranks stream to each other
 * over one TCP connection, this agreement waits behind all data in its direction, and half of the
 * link idles. Chunks of an eager stream are so short that MPI sends them without agreement; data
 * that arrives before its receive is kept in MPI's memory, at worst the whole vector. Both sides
 * must use the same kind of stream.
 */
#ifndef CHOKEPOINT_WORKLOADS_STREAM_H
#define CHOKEPOINT_WORKLOADS_STREAM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#define STREAM_STAGE (1 << 20)        /* most floats in flight: 4 MiB */
#define STREAM_CHUNK (1 << 18)        /* floats: 1 MiB */
#define STREAM_EAGER_CHUNK (15 << 10) /* with its header below the 64 KiB of Open MPI's TCP */
#define STREAM_WINDOW (STREAM_STAGE / STREAM_EAGER_CHUNK) /* most chunks in flight */

struct stream {
    int peer, tag;
    float *vector; /* NULL for a staged receiver */
    size_t n;      /* floats */
    float *stage;  /* STREAM_STAGE floats of the caller; NULL: directly from or to the vector */
    size_t chunk, window; /* floats in a chunk; chunks in flight */
    size_t posted, done;  /* in chunks */
    MPI_Request requests[STREAM_WINDOW];
};

void stream_start(struct stream *stream, float *vector, size_t n, float *stage, bool eager,
                  int peer, int tag);
bool stream_is_done(const struct stream *stream);

/* Both post as much as fits the window; true if the oldest chunk has completed meanwhile. */
bool stream_send_step(struct stream *stream);
bool stream_receive_step(struct stream *stream);

/* For receivers: true when the oldest chunk is there, with its place and length. The chunk
 * stays. */
bool stream_peek(struct stream *stream, const float **ret_chunk, size_t *ret_offset, size_t *ret_n);
/* Releases the oldest chunk after stream_peek(), so that its buffer is used again. */
void stream_drop(struct stream *stream);

#endif
