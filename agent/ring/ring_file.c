/* SPDX-License-Identifier: MIT */
#include "agent/ring/ring_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/error.h"
#include "common/transfer.h"

int ring_file_open(int dir_fd, const char *name, uid_t owner, struct stat *ret_st) {
    int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return negative_errno();
    int r = fstat(fd, ret_st) < 0 ? negative_errno() : 0;
    if (r == 0 && (!S_ISREG(ret_st->st_mode) || ret_st->st_uid != owner ||
                   ret_st->st_mode & S_IWOTH || ret_st->st_size > (off_t)RING_FILE_MAX))
        r = -EPERM;
    if (r < 0)
        close(fd);
    return r < 0 ? r : fd;
}

int ring_file_read(int dir_fd, const char *name, uid_t owner, struct buffer *to) {
    struct stat st;
    int fd = ring_file_open(dir_fd, name, owner, &st);
    if (fd < 0)
        return fd;
    buffer_reset(to);
    ssize_t n = buffer_reserve(to, (size_t)st.st_size + 1) < 0
                    ? -ENOMEM
                    : transfer_read(fd, to->data, (size_t)st.st_size);
    close(fd);
    to->size = n < 0 ? 0 : (size_t)n;
    return n < 0 ? (int)n : 0;
}
