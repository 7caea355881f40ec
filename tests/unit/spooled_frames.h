/* SPDX-License-Identifier: MIT */
/* Frames that wait in a spool, for tests of the push. */
#ifndef CHOKEPOINT_TESTS_SPOOLED_FRAMES_H
#define CHOKEPOINT_TESTS_SPOOLED_FRAMES_H

#include <cmocka.h>

#include "agent/spool/spool.h"
#include "tests/unit/frames.h"

/* Appends n frames of frames_cpu after *last_seq, which it advances. */
static inline void frames_spool(struct spool *spool, uint64_t *last_seq, uint64_t n) {
    struct buffer frame = {0};
    for (; n; n--) {
        buffer_reset(&frame);
        frames_put(&frame, &frames_cpu, ++*last_seq);
        assert_int_equal(spool_append(spool, frame.data, frame.size, *last_seq), 0);
    }
    buffer_release(&frame);
}

#endif
