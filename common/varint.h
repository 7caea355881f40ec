/* SPDX-License-Identifier: MIT */
/* The number of buffer_put_varint, written where there is room for it. */
#ifndef CHOKEPOINT_COMMON_VARINT_H
#define CHOKEPOINT_COMMON_VARINT_H

#include <stdint.h>

#define VARINT_MAX 10 /* bytes */

/* Returns where it ends. */
static inline uint8_t *varint_write(uint8_t *to, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

static inline uint64_t zigzag(int64_t value) {
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

#endif
