/* SPDX-License-Identifier: MIT */
#include "agent/delivered.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"

#define PROGRAM "chokepoint-agent"
#define SHIM "libchokepoint-mpi.so"

/* In a directory of another user, or which others may write to, the library could be another one.
 */
static int open_own_directory(const char *path, int *ret_fd) {
    struct stat info;
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return negative_errno();
    *ret_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*ret_fd < 0)
        return negative_errno();
    if (fstat(*ret_fd, &info) < 0 || info.st_uid != geteuid() || info.st_mode & 022)
        return close(*ret_fd), -EPERM;
    return 0;
}

static int copy_tail(int from, uint64_t size, int to) {
    struct stat info;
    if (fstat(from, &info) < 0)
        return negative_errno();
    if ((uint64_t)info.st_size < size)
        return -ENODATA;
    off_t at = info.st_size - (off_t)size;
    while (at < info.st_size) {
        ssize_t n = sendfile(to, from, &at, (size_t)(info.st_size - at));
        if (n <= 0)
            return n < 0 ? negative_errno() : -ENODATA;
    }
    return 0;
}

/* A rank finds the whole library or none. Hosts that share the directory replace each other's. */
static int place(int directory, int from, uint64_t size) {
    char name[64];
    snprintf(name, sizeof name, "%s.%d", SHIM, getpid());
    int to = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (to < 0)
        return negative_errno();
    int r = copy_tail(from, size, to);
    close(to);
    if (r == 0 && renameat(directory, name, directory, SHIM) < 0)
        r = negative_errno();
    if (r < 0)
        unlinkat(directory, name, 0);
    return r;
}

int delivered_place_shim(const char *directory, const char *to, uint64_t size) {
    char path[PATH_MAX];
    int own, n = snprintf(path, sizeof path, "%s/" PROGRAM, directory);
    int from = n < (int)sizeof path ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (from < 0)
        return negative_errno();
    int r = open_own_directory(to, &own);
    if (r == 0) {
        r = place(own, from, size);
        close(own);
    }
    close(from);
    return r;
}

static int remove_file(const char *directory, const char *name) {
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", directory, name);
    return n < 0 || (size_t)n >= sizeof path || unlink(path) < 0 || rmdir(directory) < 0
               ? negative_errno()
               : 0;
}

int delivered_remove_program(const char *directory) {
    return remove_file(directory, PROGRAM);
}

int delivered_remove_shim(const char *directory) {
    return remove_file(directory, SHIM);
}
