/* SPDX-License-Identifier: MIT */
/* The kernel makes /proc files anew for each pass over them, so a sample is one pass. */
#include "agent/base/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "common/text.h"

#define SOURCE_MIN ((size_t)8 << 10)
#define SOURCE_MAX ((size_t)16 << 20)

/* The kernel returns such files in pieces, which end where the next line would exceed its page. A
 * smaller piece leaves half a page unused, which no line would fill: it is the last. */
#define PIECE_LAST 2048

static ssize_t pread_some(int fd, void *to, size_t n, size_t offset) {
    ssize_t got;
    do
        got = pread(fd, to, n, (off_t)offset);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

ssize_t file_read_open(int fd, char *bytes, size_t capacity) {
    size_t size = 0;
    while (size < capacity) {
        ssize_t n = pread_some(fd, bytes + size, capacity - size, size);
        if (n < 0)
            return n;
        size += (size_t)n;
        if (n < PIECE_LAST)
            break;
    }
    return (ssize_t)size;
}

int source_read(struct source *source) {
    ssize_t n = file_read_open(source->fd, source->data, source->capacity);
    if (n < 0)
        return (int)n;
    source->cut = (size_t)n == source->capacity;
    const char *newline = n ? memrchr(source->data, '\n', (size_t)n) : NULL;
    source->size = newline ? (size_t)(newline + 1 - source->data) : 0;
    return 0;
}

static int grow(struct source *source, size_t capacity) {
    char *data = capacity <= SOURCE_MAX ? realloc(source->data, capacity) : NULL;
    if (!data)
        return -ENOMEM;
    source->data = data;
    source->capacity = capacity;
    return 0;
}

/* Grows until the file fills at most a quarter of the buffer. */
static int fit(struct source *source) {
    int r = grow(source, SOURCE_MIN);
    while (r == 0 && (r = source_read(source)) == 0) {
        if (!source->cut && source->size <= source->capacity / 4)
            return 0;
        r = grow(source, source->capacity * 2);
    }
    return r;
}

int source_open(struct source *ret_source, const char *root, const char *name) {
    char path[PATH_MAX];
    struct source source = {0};
    int n = snprintf(path, sizeof path, "%s/%s", root, name);
    if (n < 0 || (size_t)n >= sizeof path)
        return -ENAMETOOLONG;
    source.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (source.fd < 0)
        return -errno;
    int r = fit(&source);
    if (r < 0) {
        close(source.fd);
        free(source.data);
        return r;
    }
    *ret_source = source;
    return 0;
}

void source_close(struct source *source) {
    if (!source->data)
        return;
    close(source->fd);
    free(source->data);
    *source = (struct source){0};
}

int file_read_head(int at, const char *path, char *bytes, size_t capacity) {
    int fd = openat(at, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = file_read_open(fd, bytes, capacity);
    close(fd);
    return (int)n;
}

int file_read_lines(const char *path, char *text, size_t capacity) {
    int n = file_read_head(AT_FDCWD, path, text, capacity);
    const char *newline = n > 0 ? memrchr(text, '\n', (size_t)n) : NULL;
    return n < 0 ? n : newline ? (int)(newline + 1 - text) : 0;
}

int file_read_small(int at, const char *path, char *text, size_t capacity) {
    int n = file_read_head(at, path, text, capacity);
    if (n < 0)
        return n;
    if ((size_t)n >= capacity)
        return -EFBIG;
    while (n > 0 && text[n - 1] == '\n')
        n--;
    text[n] = '\0';
    return n;
}
