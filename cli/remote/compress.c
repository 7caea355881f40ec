/* SPDX-License-Identifier: MIT */
#include "cli/remote/message.h"

#include <errno.h>
#include <snappy-c.h>

int message_compress(const struct buffer *from, struct buffer *to) {
    size_t size = snappy_max_compressed_length(from->size);
    int r = buffer_reserve(to, size);
    if (r)
        return r;
    if (snappy_compress((const char *)from->data, from->size, (char *)to->data + to->size, &size) !=
        SNAPPY_OK)
        return -ENOMEM;
    to->size += size;
    return 0;
}
