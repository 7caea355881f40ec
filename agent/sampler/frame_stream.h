/* SPDX-License-Identifier: MIT */
/*
 * A stream of frames: its tables, whose rows become frames, and its sequence number. Samples are
 * one stream; single events, which are too many to be sent while the job runs, are another
 * (probe.h).
 */
#ifndef CHOKEPOINT_AGENT_FRAME_STREAM_H
#define CHOKEPOINT_AGENT_FRAME_STREAM_H

#include "common/wire.h"

struct frame_sink;

struct frame_stream {
    struct rows *rows;           /* owned, by table: n of capacity */
    struct rows **frame_rows;    /* by table: pointers into rows, for the encoder */
    const struct table **tables; /* by table */
    unsigned *indexes;           /* by table: 0, 1, 2 ... */
    size_t n, capacity;
    struct buffer frame, scratch;
    struct frame_head head; /* number of the last frame */
    bool packed;            /* frames have the packed form */
};

/* Room for `capacity` tables. -ENOMEM, -E2BIG; release it in any case. */
int frame_stream_init(struct frame_stream *stream, size_t capacity);
void frame_stream_release(struct frame_stream *stream);

/* Adds a table with room for max_rows. -ENOMEM. */
int frame_stream_add(struct frame_stream *stream, const struct table *table, size_t max_rows);

/* Allocates all memory that its frames can need. -ENOMEM. */
int frame_stream_reserve(struct frame_stream *stream);

/* Makes the next frame of the present rows and passes it to the sink; rows stay. `head` gets the
 * stream's sequence number. 0 or the sink's error. */
int frame_stream_send(struct frame_stream *stream, const struct frame_head *head,
                      const struct frame_sink *sink);

/* Forgets the rows of the tables from `first` on. */
void frame_stream_reset(struct frame_stream *stream, size_t first);

#endif
