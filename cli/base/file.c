/* SPDX-License-Identifier: MIT */
#include "cli/base/file.h"
#include "common/error.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int path_vformat(char *to, size_t capacity, const char *format, va_list arguments) {
    int n = vsnprintf(to, capacity, format, arguments);
    return n < 0 ? -EINVAL : (size_t)n >= capacity ? -ENAMETOOLONG : 0;
}

/* Turns the format of the variadic functions below into a path. */
#define PATH_FROM(path, format, r)                                                                 \
    char path[PATH_MAX];                                                                           \
    va_list arguments;                                                                             \
    va_start(arguments, format);                                                                   \
    int r = path_vformat(path, sizeof path, format, arguments);                                    \
    va_end(arguments)

int path_format(char *to, size_t capacity, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int r = path_vformat(to, capacity, format, arguments);
    va_end(arguments);
    return r;
}

bool path_exists(const char *format, ...) {
    PATH_FROM(path, format, r);
    return r == 0 && access(path, F_OK) == 0;
}

static int write_whole(int fd, const char *text) {
    size_t size = strlen(text);
    ssize_t n = write(fd, text, size);
    return n < 0 ? negative_errno() : (size_t)n < size ? -EIO : 0;
}

static int write_and_close(int fd, const char *text) {
    if (fd < 0)
        return negative_errno();
    int r = write_whole(fd, text);
    return close(fd) < 0 && r == 0 ? negative_errno() : r;
}

int file_write(const char *text, const char *format, ...) {
    PATH_FROM(path, format, r);
    return r < 0 ? r : write_and_close(open(path, O_WRONLY | O_CLOEXEC), text);
}

int file_replace(const char *text, const char *format, ...) {
    PATH_FROM(path, format, r);
    char fresh[PATH_MAX];
    if (r == 0)
        r = path_format(fresh, sizeof fresh, "%s.new", path);
    if (r < 0)
        return r;
    unlink(fresh); /* left by a process that was killed */
    r = write_and_close(open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), text);
    if (r == 0 && rename(fresh, path) < 0)
        r = negative_errno();
    if (r < 0)
        unlink(fresh);
    return r;
}

static int read_whole(int fd, char *ret_text, size_t capacity) {
    size_t size = 0;
    for (;;) {
        ssize_t n = read(fd, ret_text + size, capacity - size);
        if (n < 0)
            return negative_errno();
        if (n == 0)
            break;
        size += (size_t)n;
        if (size == capacity)
            return -EFBIG;
    }
    ret_text[size] = '\0';
    return 0;
}

int file_read(char *ret_text, size_t capacity, const char *format, ...) {
    PATH_FROM(path, format, r);
    if (r < 0)
        return r;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return negative_errno();
    r = read_whole(fd, ret_text, capacity);
    close(fd);
    return r;
}
