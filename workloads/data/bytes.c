/* SPDX-License-Identifier: MIT */
#include "workloads/data/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* the largest window, with a gzip header */

int data_error_at(struct data_error *e, const char *name, size_t offset, const char *format, ...) {
    va_list values;
    int n = snprintf(e->text, sizeof e->text, "%.400s: offset %zu: ", name, offset);
    va_start(values, format);
    vsnprintf(e->text + n, sizeof e->text - (size_t)n, format, values);
    va_end(values);
    return -EBADMSG;
}

int data_error_set(struct data_error *e, int r, const char *name, const char *text) {
    snprintf(e->text, sizeof e->text, "%.400s: %.100s: %s", name, text, strerror(-r));
    return r;
}

uint32_t bytes_checksum(uint32_t sum, const void *bytes, size_t n) {
    return (uint32_t)crc32_z(sum, bytes, n);
}

void bytes_release(struct bytes *b) {
    free(b->data);
    *b = (struct bytes){0};
}

static int grow(struct bytes *b, size_t *capacity, size_t most) {
    size_t bigger = *capacity ? *capacity * 2 : 1 << 16;
    if (bigger > most + 1) /* one more byte, to detect a larger file */
        bigger = most + 1;
    uint8_t *data = realloc(b->data, bigger);
    if (!data)
        return -ENOMEM;
    b->data = data;
    *capacity = bigger;
    return 0;
}

/* The error of inflate() in words; 0 while it has none. */
static int inflate_error(const char *name, const z_stream *z, const struct bytes *b, int state,
                         size_t most, struct data_error *error) {
    if (b->n > most)
        return data_error_at(error, name, b->n, "expected at most %zu bytes unpacked", most);
    if (state == Z_MEM_ERROR)
        return data_error_set(error, -ENOMEM, name, "cannot unpack");
    if (state == Z_BUF_ERROR)
        return data_error_at(error, name, b->n, "the gzip stream ends too early");
    if (state != Z_OK && state != Z_STREAM_END)
        return data_error_at(error, name, b->n, "not gzip: %s", z->msg ? z->msg : "damaged");
    return 0;
}

/* Unpacks one member; z is behind it then. */
static int unpack_member(const char *name, z_stream *z, struct bytes *b, size_t *capacity,
                         size_t most, struct data_error *error) {
    int r = 0;
    for (int state = Z_OK; r == 0 && state != Z_STREAM_END;) {
        if (b->n == *capacity && (r = grow(b, capacity, most)) < 0)
            return data_error_set(error, r, name, "cannot unpack");
        size_t room = *capacity - b->n;
        z->next_out = b->data + b->n;
        z->avail_out = (uInt)(room < 1 << 30 ? room : 1 << 30);
        state = inflate(z, Z_NO_FLUSH);
        b->n = (size_t)(z->next_out - b->data);
        r = inflate_error(name, z, b, state, most, error);
    }
    return r;
}

int bytes_unpack(const char *name, const uint8_t *packed, size_t n, size_t most, struct bytes *ret,
                 struct data_error *error) {
    /* zlib does not write there; its interface is older than const */
    z_stream z = {.next_in = (Bytef *)(uintptr_t)packed, .avail_in = (uInt)n};
    struct bytes b = {0};
    size_t capacity = 0;
    if (n > BYTES_MOST || inflateInit2(&z, GZIP_WINDOW) != Z_OK)
        return data_error_set(error, -ENOMEM, name, "cannot unpack");
    int r;
    do
        r = unpack_member(name, &z, &b, &capacity, most, error);
    while (r == 0 && z.avail_in > 0 && inflateReset(&z) == Z_OK);
    inflateEnd(&z);
    if (r < 0)
        bytes_release(&b);
    else
        *ret = b;
    return r;
}

static int read_fd(int fd, size_t size, struct bytes *ret) {
    struct bytes b = {.data = malloc(size ? size : 1)};
    if (!b.data)
        return -ENOMEM;
    while (b.n < size) {
        ssize_t n = read(fd, b.data + b.n, size - b.n);
        if (n == 0)
            break;
        if (n < 0 && errno != EINTR) {
            int r = -errno;
            bytes_release(&b);
            return r;
        }
        b.n += n > 0 ? (size_t)n : 0;
    }
    *ret = b;
    return 0;
}

static int read_file(const char *path, struct bytes *ret) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = fstat(fd, &st) < 0                ? -errno
            : S_ISDIR(st.st_mode)             ? -EISDIR
            : !S_ISREG(st.st_mode)            ? -EINVAL
            : (size_t)st.st_size > BYTES_MOST ? -EFBIG
                                              : read_fd(fd, (size_t)st.st_size, ret);
    close(fd);
    return r;
}

int bytes_read(const char *path, struct bytes *ret, struct data_error *error) {
    struct bytes packed;
    int r = read_file(path, ret);
    if (r < 0)
        return data_error_set(error, r, path, "cannot read");
    if (ret->n < 2 || ret->data[0] != 0x1f || ret->data[1] != 0x8b)
        return 0;
    packed = *ret;
    *ret = (struct bytes){0};
    r = bytes_unpack(path, packed.data, packed.n, BYTES_MOST, ret, error);
    bytes_release(&packed);
    return r;
}
