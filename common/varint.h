/* SPDX-License-Identifier: MIT */
/* Writes the varint of buffer_put_varint into memory that has room for it. */
#ifndef CHOKEPOINT_COMMON_VARINT_H
#define CHOKEPOINT_COMMON_VARINT_H

#include <stdint.h>

#define VARINT_MAX 10 /* bytes */

/* Returns the end of the varint. */
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
