/* SPDX-License-Identifier: MIT */
#include "common/secret.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"

int secret_take(const char *name, char *ret_value, size_t capacity) {
    char *value = getenv(name);
    ret_value[0] = '\0';
    if (!value)
        return 0;
    size_t size = strlen(value);
    if (size < capacity)
        memcpy(ret_value, value, size + 1);
    char *entry = value - strlen(name) - 1;
    unsetenv(name);
    explicit_bzero(entry, strlen(name) + 1 + size);
    return size < capacity ? 0 : -E2BIG;
}

int secret_read_line(int fd, char *ret_value, size_t capacity) {
    for (size_t n = 0; n < capacity;) {
        ssize_t got = read(fd, ret_value + n, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? negative_errno() : -ENODATA;
        if (ret_value[n] == '\n')
            return ret_value[n] = '\0', 0;
        n++;
    }
    return -E2BIG;
}
