/* SPDX-License-Identifier: MIT */
/* struct gzip is zlib's gzFile. */
#include "workloads/common/gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>
#include <zlib.h>

#define READ_AHEAD ((unsigned)256 << 10)

int gzip_is(const char *path) {
    unsigned char magic[2];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = read(fd, magic, sizeof magic);
    int r = n < 0 ? -errno : n == sizeof magic && magic[0] == 0x1f && magic[1] == 0x8b;
    close(fd);
    return r;
}

struct gzip *gzip_open(int fd) {
    gzFile file = gzdopen(fd, "rb");
    if (file)
        gzbuffer(file, READ_AHEAD);
    else
        close(fd);
    return (struct gzip *)file;
}

void gzip_close(struct gzip *gzip) {
    gzclose((gzFile)gzip);
}

static int error_of(struct gzip *gzip) {
    int state = Z_OK;
    gzerror((gzFile)gzip, &state);
    return state == Z_OK || state == Z_STREAM_END ? 0
           : state == Z_ERRNO                     ? -errno
           : state == Z_MEM_ERROR                 ? -ENOMEM
                                                  : -EBADMSG;
}

/* At a premature end zlib returns the data it has, and reports the error only when asked. */
ssize_t gzip_read(struct gzip *gzip, void *to, size_t size) {
    int n = gzread((gzFile)gzip, to, size < INT_MAX ? (unsigned)size : INT_MAX);
    return n > 0 ? n : error_of(gzip);
}
