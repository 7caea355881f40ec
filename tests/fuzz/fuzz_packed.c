/* SPDX-License-Identifier: MIT */
/*
 * Packed files from outside. If the first byte is even, the bytes follow as they are; if odd,
 * behind a header with the unpacked size, which the next byte gives; its next bit is the form.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/store_packed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    uint64_t bytes;
};

static int take(void *ctx, uint64_t offset, const void *data, size_t size) {
    struct seen *seen = ctx;
    if (offset != seen->bytes || !data || !size)
        abort();
    seen->bytes += size;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t head[16] = "\x5c\x2a\x4d\x18\x10\0\0\0"
                       "CHKPACK1";
    struct seen seen = {0};
    uint64_t said = 0;
    if (size < 2)
        return 0;
    int fd = memfd_create("packed", MFD_CLOEXEC);
    if (data[0] & 1) {
        uint8_t length[8] = {0, data[1]};
        head[15] = data[0] & 2 ? '2' : '1';
        if (write(fd, head, sizeof head) < 0 || write(fd, length, sizeof length) < 0)
            abort();
    }
    if (write(fd, data + 2, size - 2) < 0)
        abort();
    int r = packed_read(fd, take, &seen, &said);
    if (r == 0 && (seen.bytes != said || (said > 1u << 20 && said / 512 > size)))
        abort();
    close(fd);
    return 0;
}
