/* SPDX-License-Identifier: MIT */
/*
 * Makes one frame of several, for long cuts. Counters are absolute, so the last row of each
 * instance tells all that grew; an instance that ended meanwhile keeps its last row. Only
 * resolution is lost.
 */
#ifndef CHOKEPOINT_AGENT_RING_THIN_H
#define CHOKEPOINT_AGENT_RING_THIN_H

#include "common/buffer.h"
#include "common/wire.h"

struct ring_thin;

/* For frames whose tables are those of the reader, and which must outlive it. -ENOMEM. */
int ring_thin_new(struct wire_table *const tables[TABLES_MAX], struct ring_thin **ret_thin);
void ring_thin_free(struct ring_thin *thin); /* takes NULL */

/* Takes in the rows of a frame. False: there is no room for all of them; those taken stay. */
bool ring_thin_add(struct ring_thin *thin, const struct wire_reader *reader,
                   struct wire_record frame);

/* Writes the frame with this head into `to`, which is reset, and begins anew. -ENOMEM. */
int ring_thin_put(struct ring_thin *thin, const struct frame_head *head, struct buffer *to);

#endif
