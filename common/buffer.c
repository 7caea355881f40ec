/* SPDX-License-Identifier: MIT */
/* Growth doubles, so that n appends cost O(n). */
#include "common/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/varint.h"

void buffer_init(struct buffer *buffer) {
    *buffer = (struct buffer){0};
}

void buffer_release(struct buffer *buffer) {
    free(buffer->data);
    *buffer = (struct buffer){0};
}

void buffer_reset(struct buffer *buffer) {
    buffer->size = 0;
    buffer->error = 0;
}

int buffer_reserve(struct buffer *buffer, size_t size) {
    if (buffer->capacity - buffer->size >= size)
        return 0;
    if (size > SIZE_MAX / 4 || buffer->size > SIZE_MAX / 4)
        return buffer->error = -ENOMEM;
    size_t capacity = buffer->capacity ? buffer->capacity : 256;
    while (capacity < buffer->size + size)
        capacity *= 2;
    uint8_t *data = realloc(buffer->data, capacity);
    if (!data)
        return buffer->error = -ENOMEM;
    buffer->data = data;
    buffer->capacity = capacity;
    return 0;
}

void buffer_put(struct buffer *buffer, const void *data, size_t size) {
    if (!size || buffer->error || buffer_reserve(buffer, size) < 0)
        return;
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

void buffer_put_u8(struct buffer *buffer, uint8_t value) {
    buffer_put(buffer, &value, 1);
}

void buffer_put_u32le(struct buffer *buffer, uint32_t value) {
    uint8_t bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    buffer_put(buffer, bytes, sizeof bytes);
}

void buffer_put_u64le(struct buffer *buffer, uint64_t value) {
    buffer_put_u32le(buffer, (uint32_t)value);
    buffer_put_u32le(buffer, (uint32_t)(value >> 32));
}

void buffer_put_varint(struct buffer *buffer, uint64_t value) {
    if (buffer->error || buffer_reserve(buffer, VARINT_MAX) < 0)
        return;
    buffer->size = (size_t)(varint_write(buffer->data + buffer->size, value) - buffer->data);
}

void buffer_put_zigzag(struct buffer *buffer, int64_t value) {
    buffer_put_varint(buffer, zigzag(value));
}
