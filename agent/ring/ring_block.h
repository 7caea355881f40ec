/* SPDX-License-Identifier: MIT */
/*
 * A block of a ring's file: a head of fixed size in little endian, and bytes that zstd may have
 * packed. The checksum in the head is over all of it, so each block stands alone: a file that was
 * cut is good up to its last whole block. Blocks may be anybody's bytes; sizes are checked before
 * they are used.
 */
#ifndef CHOKEPOINT_AGENT_RING_BLOCK_H
#define CHOKEPOINT_AGENT_RING_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "agent/ring/ring_zip.h"
#include "common/buffer.h"

#define RING_BLOCK_HEAD 52
#define RING_BLOCK_MAX (4u << 20) /* bytes that it has unpacked */

enum ring_block_kind {
    RING_FRAMES = 1,  /* a whole stream: magic, stream, tables, frames (common/wire.h) */
    RING_LINEAGE = 2, /* entries of agent/base/lineage.h */
};

struct ring_block {
    uint8_t kind, packed;      /* kinds of later versions are skipped */
    uint32_t stored, size;     /* bytes in the file and unpacked */
    int64_t first_ns, last_ns; /* wall times of its frames; of lineages: of their segment */
    uint64_t first_seq, last_seq;
};

/* Appends a block; stored, packed and size are set by this. zip: borrowed. -EMSGSIZE, -ENOMEM. */
int ring_block_put(struct buffer *to, struct ring_block block, const void *data, size_t size,
                   struct ring_zip *zip);

/* Reads a head. -EBADMSG; its checksum is that of the whole block, see below. */
int ring_block_read(const uint8_t head[RING_BLOCK_HEAD], struct ring_block *ret_block);

/* Checks head and stored bytes together, and unpacks them into `to`, which is reset. -EBADMSG; with
 * -ENOTSUP this program cannot unpack it. */
int ring_block_open(const uint8_t head[RING_BLOCK_HEAD], const struct ring_block *block,
                    const uint8_t *stored, struct ring_zip *zip, struct buffer *to);

#endif
