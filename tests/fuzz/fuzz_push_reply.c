/* SPDX-License-Identifier: MIT */
/* The collector's answers, as an agent reads them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/push/push_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct push_reply reply;
    char *text = malloc(size + 1);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (push_reply_parse(text, &reply) == 0 && (reply.received_ns < 0 || reply.replied_ns < 0))
        abort();
    free(text);
    return 0;
}
