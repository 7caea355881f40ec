/* SPDX-License-Identifier: MIT */
/* Texts of /proc/PID/fdinfo about cards: a client has an address that ends, and no negative
 * figure. */
#include <stdlib.h>
#include <string.h>

#include "agent/probes/gpu/gpu_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct drm_client client;
    char *text = malloc(size ? size : 1); /* nothing behind it may be read */
    if (!text)
        return 0;
    memcpy(text, data, size);
    if (drm_client_parse(text, size, &client) &&
        (!client.address[0] || !memchr(client.address, '\0', sizeof client.address) ||
         (client.busy_ns < 0 && client.busy_ns != VALUE_ABSENT) ||
         (client.memory < 0 && client.memory != VALUE_ABSENT)))
        abort();
    free(text);
    return 0;
}
