/* SPDX-License-Identifier: MIT */
/*
 * Reads varints, as buffer_put_varint writes them, from untrusted bytes. A failure sets `bad` for
 * good, so that a reader of many small numbers checks once at the end. Inline, since a large
 * recording has millions of them.
 */
#ifndef CHOKEPOINT_COMMON_CURSOR_H
#define CHOKEPOINT_COMMON_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/text.h"

struct cursor {
    const uint8_t *p, *end;
    bool bad; /* true: returned values are invalid */
};

/* LEB128 of at most 64 bits: a tenth byte above 1 is an error, like a premature end. */
static inline uint64_t cursor_varint(struct cursor *c) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && c->p != c->end; shift += 7) {
        uint8_t byte = *c->p++;
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    c->bad = true;
    return 0;
}

static inline int64_t cursor_zigzag(struct cursor *c) {
    uint64_t value = cursor_varint(c);
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* A size and so many bytes, borrowed; empty if there are fewer. */
static inline struct span cursor_string(struct cursor *c) {
    uint64_t size = cursor_varint(c);
    if (c->bad || size > (uint64_t)(c->end - c->p)) {
        c->bad = true;
        return (struct span){"", 0};
    }
    struct span span = {(const char *)c->p, (size_t)size};
    c->p += size;
    return span;
}

#endif
