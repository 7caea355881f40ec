/* SPDX-License-Identifier: MIT */
/* Datagrams of any size: one that is accepted as an echo is written again as the same bytes, up to
 * its code, which is right then.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/echo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    uint8_t *copy = malloc(n + !n), again[ECHO_SIZE]; /* of the exact size */
    struct echo echo;
    if (!copy)
        return 0;
    if (n)
        memcpy(copy, data, n);
    if (echo_get(copy, n, &echo)) {
        echo_put(again, &echo);
        if (n != ECHO_SIZE || memcmp(again, copy, ECHO_SIZE - sizeof(uint64_t)) != 0 ||
            !echo_is_authentic(again, echo.key) ||
            (echo_is_authentic(copy, echo.key) && memcmp(again, copy, ECHO_SIZE) != 0))
            abort();
    }
    free(copy);
    return 0;
}
