/* SPDX-License-Identifier: MIT */
#include "agent/ring/ring_frame.h"

#include "common/crc32c.h"

#define HEAD_MAX 96 /* bytes */

int ring_frame_put(struct buffer *to, const struct wire_record *frame,
                   const struct frame_head *head) {
    uint8_t bytes[HEAD_MAX];
    struct buffer start = {.data = bytes, .capacity = sizeof bytes};
    size_t rows = (size_t)(frame->end - frame->p);
    buffer_put_varint(&start, head->seq);
    buffer_put_zigzag(&start, head->wall_ns);
    buffer_put_zigzag(&start, head->mono_ns);
    buffer_put_zigzag(&start, head->slot_ns);
    buffer_put_zigzag(&start, head->late_ns);
    buffer_put_varint(&start, head->missed);
    buffer_put_varint(&start, head->lost);
    buffer_put_varint(&start, frame->sections);
    buffer_reset(to);
    buffer_put_u8(to, WIRE_FRAME);
    buffer_put_varint(to, start.size + rows);
    buffer_put(to, start.data, start.size);
    buffer_put(to, frame->p, rows);
    if (to->error)
        return to->error;
    buffer_put_u32le(to, crc32c(0, to->data, to->size));
    return to->error;
}
