/* SPDX-License-Identifier: MIT */
#include "agent/ring/ring_block.h"

#include <errno.h>
#include <stdbool.h>

#include "common/crc32c.h"

#define MAGIC 0x42524b43 /* "CKRB" */
#define CHECKED (RING_BLOCK_HEAD - 4)

static uint32_t u32_at(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t u64_at(const uint8_t *p) {
    return u32_at(p) | (uint64_t)u32_at(p + 4) << 32;
}

static void put_head(struct buffer *to, const struct ring_block *block) {
    buffer_put_u32le(to, MAGIC);
    buffer_put_u8(to, block->kind);
    buffer_put_u8(to, block->packed);
    buffer_put_u8(to, 0);
    buffer_put_u8(to, 0);
    buffer_put_u32le(to, block->stored);
    buffer_put_u32le(to, block->size);
    buffer_put_u64le(to, (uint64_t)block->first_ns);
    buffer_put_u64le(to, (uint64_t)block->last_ns);
    buffer_put_u64le(to, block->first_seq);
    buffer_put_u64le(to, block->last_seq);
}

int ring_block_put(struct buffer *to, struct ring_block block, const void *data, size_t size,
                   struct ring_zip *zip) {
    if (size > RING_BLOCK_MAX)
        return -EMSGSIZE;
    const void *packed;
    size_t n = ring_zip_pack(zip, data, size, &packed);
    block.packed = n > 0;
    block.stored = (uint32_t)(n ? n : size);
    block.size = (uint32_t)size;
    size_t start = to->size;
    put_head(to, &block);
    if (to->error)
        return to->error;
    uint32_t crc = crc32c(0, to->data + start, CHECKED);
    buffer_put_u32le(to, crc32c(crc, n ? packed : data, block.stored));
    buffer_put(to, n ? packed : data, block.stored);
    return to->error;
}

int ring_block_read(const uint8_t head[RING_BLOCK_HEAD], struct ring_block *ret_block) {
    const struct ring_block block = {.kind = head[4],
                                     .packed = head[5],
                                     .stored = u32_at(head + 8),
                                     .size = u32_at(head + 12),
                                     .first_ns = (int64_t)u64_at(head + 16),
                                     .last_ns = (int64_t)u64_at(head + 24),
                                     .first_seq = u64_at(head + 32),
                                     .last_seq = u64_at(head + 40)};
    if (u32_at(head) != MAGIC || block.stored > RING_BLOCK_MAX || block.size > RING_BLOCK_MAX ||
        block.packed > 1 || (!block.packed && block.stored != block.size) || block.first_ns < 0 ||
        block.last_ns < 0)
        return -EBADMSG;
    *ret_block = block;
    return 0;
}

int ring_block_open(const uint8_t head[RING_BLOCK_HEAD], const struct ring_block *block,
                    const uint8_t *stored, struct ring_zip *zip, struct buffer *to) {
    uint32_t crc = crc32c(0, head, CHECKED);
    if (crc32c(crc, stored, block->stored) != u32_at(head + CHECKED))
        return -EBADMSG;
    buffer_reset(to);
    if (!block->packed) {
        buffer_put(to, stored, block->stored);
        return to->error;
    }
    if (buffer_reserve(to, block->size + 1u) < 0)
        return -ENOMEM;
    int r = ring_zip_unpack(zip, stored, block->stored, to->data, block->size);
    to->size = r < 0 ? 0 : block->size;
    return r;
}
