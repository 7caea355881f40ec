/* SPDX-License-Identifier: MIT */
#include "workloads/common/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int file_write_all(int fd, const void *bytes, size_t n) {
    const char *from = bytes;
    for (size_t done = 0; done < n;) {
        ssize_t wrote = write(fd, from + done, n - done);
        if (wrote < 0 && errno != EINTR)
            return -errno;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

static int write_and_close(int fd, const void *bytes, size_t n) {
    if (fd < 0)
        return -errno;
    int r = file_write_all(fd, bytes, n);
    return close(fd) < 0 && r == 0 ? -errno : r;
}

/* A leftover of a killed run is not opened for writing: it may be a link by now. */
static int open_part(const char *part, const struct stat *old) {
    unlink(part);
    int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 && old)
        (void)!fchmod(fd, old->st_mode & 0777);
    return fd;
}

static int replace(const char *path, const struct stat *old, const void *bytes, size_t n) {
    char part[PATH_MAX];
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
        return -ENAMETOOLONG;
    int r = write_and_close(open_part(part, old), bytes, n);
    if (r == 0 && rename(part, path) < 0)
        r = -errno;
    if (r < 0)
        unlink(part);
    return r;
}

/* For a dangling link: creates an empty target, which is then replaced like any file. */
static int make_linked(const char *path, const void *bytes, size_t n) {
    char real[PATH_MAX];
    int r = write_and_close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666), NULL, 0);
    if (r < 0 || !realpath(path, real))
        return r < 0 ? r : -errno;
    r = replace(real, NULL, bytes, n);
    if (r < 0)
        unlink(real);
    return r;
}

static int make(const char *path, const void *bytes, size_t n) {
    struct stat link;
    bool linked = lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
    return linked ? make_linked(path, bytes, n) : replace(path, NULL, bytes, n);
}

int whole_file_write(const char *path, const void *bytes, size_t n) {
    struct stat old;
    char real[PATH_MAX];
    if (stat(path, &old) < 0)
        return errno == ENOENT ? make(path, bytes, n) : -errno;
    if (!S_ISREG(old.st_mode))
        return write_and_close(open(path, O_WRONLY | O_CLOEXEC), bytes, n);
    int r = realpath(path, real) ? replace(real, &old, bytes, n) : -errno;
    if (r != -EACCES && r != -EPERM && r != -EROFS)
        return r;
    /* If no file may be created beside it, the file itself may still be writable. */
    return write_and_close(open(path, O_WRONLY | O_TRUNC | O_CLOEXEC), bytes, n);
}
