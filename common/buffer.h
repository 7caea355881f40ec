/* SPDX-License-Identifier: MIT */
/*
 * A growable array of bytes. A failed append sets `error` (-ENOMEM), so that a writer of many small
 * pieces checks once at its end.
 */
#ifndef CHOKEPOINT_COMMON_BUFFER_H
#define CHOKEPOINT_COMMON_BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct buffer {
    uint8_t *data; /* owned; NULL while empty */
    size_t size;
    size_t capacity;
    int error; /* 0, or the first negative errno of an append */
};

void buffer_init(struct buffer *buffer);
void buffer_release(struct buffer *buffer);

/* Forgets the content, keeps the memory, clears the error. */
void buffer_reset(struct buffer *buffer);

/* Makes room for `size` more bytes: an append of up to `size` bytes then allocates nothing. */
int buffer_reserve(struct buffer *buffer, size_t size);

void buffer_put(struct buffer *buffer, const void *data, size_t size);
void buffer_put_u8(struct buffer *buffer, uint8_t value);
void buffer_put_u32le(struct buffer *buffer, uint32_t value);
void buffer_put_u64le(struct buffer *buffer, uint64_t value);

/* LEB128: seven bits a byte, least significant first, at most ten bytes. */
void buffer_put_varint(struct buffer *buffer, uint64_t value);

/* A varint in zigzag form, which keeps small negative values short. */
void buffer_put_zigzag(struct buffer *buffer, int64_t value);

#endif
