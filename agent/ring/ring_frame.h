/* SPDX-License-Identifier: MIT */
/* Frames of a cut begin anew: a cut is a stream of its own. */
#ifndef CHOKEPOINT_AGENT_RING_FRAME_H
#define CHOKEPOINT_AGENT_RING_FRAME_H

#include "common/buffer.h"
#include "common/wire.h"

/* Writes the frame with another head into `to`, which is reset; its rows stay as they are. The
 * frame is not packed. -ENOMEM. */
int ring_frame_put(struct buffer *to, const struct wire_record *frame,
                   const struct frame_head *head);

#endif
