/* SPDX-License-Identifier: MIT */
/* Any bytes from a host, and any from a relay: a record, a part of one, or none, within bounds. */
#include <stdlib.h>
#include <string.h>

#include "agent/push/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds) {
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct stream_request request;
    struct push_answer answer;
    uint64_t number;
    size_t needed;
    int r = stream_read_request(data, size, &request, &needed);
    require(needed <= STREAM_REQUEST_MAX && (r != STREAM_MORE || needed > size));
    if (r == 0) {
        require(needed <= size && request.body + request.body_size == data + needed);
        require(strpbrk(request.clock, "\r\n") == NULL);
    }
    r = stream_read_answer(data, size, &number, &answer, &needed);
    require(needed <= 4096 && (r != STREAM_MORE || needed > size));
    return 0;
}
