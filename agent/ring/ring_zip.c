/* SPDX-License-Identifier: MIT */
#include "agent/ring/ring_zip.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "common/buffer.h"

#define LEVEL 3 /* level 1 takes two thirds of the time, and a seventh more room */

struct ring_zip {
    ZSTD_CCtx *pack; /* owned, as all; made when first used */
    ZSTD_DCtx *unpack;
    struct buffer packed;
};

int ring_zip_new(struct ring_zip **ret_zip) {
    struct ring_zip *zip = calloc(1, sizeof *zip);
    if (!zip)
        return -ENOMEM;
    *ret_zip = zip;
    return 0;
}

void ring_zip_free(struct ring_zip *zip) {
    if (!zip)
        return;
    ZSTD_freeCCtx(zip->pack);
    ZSTD_freeDCtx(zip->unpack);
    buffer_release(&zip->packed);
    free(zip);
}

size_t ring_zip_pack(struct ring_zip *zip, const void *data, size_t size, const void **ret_packed) {
    if (!zip->pack && !(zip->pack = ZSTD_createCCtx()))
        return 0;
    buffer_reset(&zip->packed);
    if (buffer_reserve(&zip->packed, size) < 0)
        return 0;
    size_t n = ZSTD_compressCCtx(zip->pack, zip->packed.data, size, data, size, LEVEL);
    if (ZSTD_isError(n) || n >= size)
        return 0;
    *ret_packed = zip->packed.data;
    return n;
}

int ring_zip_unpack(struct ring_zip *zip, const void *packed, size_t packed_size, void *to,
                    size_t size) {
    if (!zip->unpack && !(zip->unpack = ZSTD_createDCtx()))
        return -ENOMEM;
    size_t n = ZSTD_decompressDCtx(zip->unpack, to, size, packed, packed_size);
    return ZSTD_isError(n) || n != size ? -EBADMSG : 0;
}
