/* SPDX-License-Identifier: MIT */
#include "common/transfer.h"

#include <errno.h>
#include <unistd.h>

#include "common/error.h"

ssize_t transfer_read(int fd, void *to, size_t size) {
    size_t got = 0;
    while (got < size) {
        ssize_t n = read(fd, (char *)to + got, size - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return negative_errno();
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

int transfer_write(int fd, const void *data, size_t size) {
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return negative_errno();
        data = (const char *)data + n;
        size -= (size_t)n;
    }
    return 0;
}
