/* SPDX-License-Identifier: MIT */
/* The memory of blocks, and zstd for their columns. */
#include "collector/store_block.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#define LEVEL 1

struct block_work {
    ZSTD_CCtx *pack; /* owned, as all; made when first used */
    ZSTD_DCtx *unpack;
    uint8_t *bytes; /* BLOCK_COLUMN_BYTES */
    int64_t *values;
    struct buffer raw;
};

int block_work_new(struct block_work **ret_work) {
    struct block_work *work = calloc(1, sizeof *work);
    if (work) {
        work->bytes = malloc(BLOCK_COLUMN_BYTES);
        work->values = malloc(BLOCK_ROWS_MAX * sizeof *work->values);
    }
    if (!work || !work->bytes || !work->values) {
        block_work_free(work);
        return -ENOMEM;
    }
    *ret_work = work;
    return 0;
}

void block_work_free(struct block_work *work) {
    if (!work)
        return;
    ZSTD_freeCCtx(work->pack);
    ZSTD_freeDCtx(work->unpack);
    buffer_release(&work->raw);
    free(work->bytes);
    free(work->values);
    free(work);
}

int64_t *block_work_values(struct block_work *work) {
    return work->values;
}

struct buffer *block_work_raw(struct block_work *work) {
    return &work->raw;
}

size_t block_zip(struct block_work *work, const void *data, size_t size, void *to, size_t room) {
    if (!work->pack && !(work->pack = ZSTD_createCCtx()))
        return 0;
    size_t n = ZSTD_compressCCtx(work->pack, to, room, data, size, LEVEL);
    return ZSTD_isError(n) || n >= size ? 0 : n;
}

const uint8_t *block_unzip(struct block_work *work, const void *data, size_t size,
                           size_t unpacked) {
    if (unpacked > BLOCK_COLUMN_BYTES || (!work->unpack && !(work->unpack = ZSTD_createDCtx())))
        return NULL;
    size_t n = ZSTD_decompressDCtx(work->unpack, work->bytes, unpacked, data, size);
    return ZSTD_isError(n) || n != unpacked ? NULL : work->bytes;
}
