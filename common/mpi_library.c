/* SPDX-License-Identifier: MIT */
#include "common/mpi_library.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/error.h"
#include "common/private_path.h"
#include "common/siphash.h"

#define NAME "libchokepoint-mpi.so"
#define MADE_DIRECTORIES 3 /* bytes of a path below a home: .cache/chokepoint/DIGEST */

static const char version[] = "chokepoint-mpi " CHOKEPOINT_VERSION; /* as in agent/shim/life.c */

const char *mpi_library_words(int error) {
    return error == -EPERM     ? "others than you and root may write there"
           : error == -ENOEXEC ? "its file system lets no program run (noexec)"
           : error == -ESTALE  ? "it is of another version"
                               : strerror(-error);
}

int mpi_library_beside(const char *program, char ret_path[PATH_MAX]) {
    static const char *const places[] = {"", CHOKEPOINT_SHIM_FROM_BIN "/"};
    const char *slash = strrchr(program, '/');
    int length = slash ? (int)(slash - program) : 0;
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        char path[PATH_MAX];
        int n = snprintf(path, sizeof path, "%.*s/%s" NAME, length, program, places[i]);
        if (n > 0 && (size_t)n < sizeof path && access(path, R_OK) == 0 && realpath(path, ret_path))
            return 0;
    }
    return -ENOENT;
}

int mpi_library_at_home(uint64_t digest, char ret_path[PATH_MAX]) {
    const char *home = getenv("HOME");
    if (!home || home[0] != '/')
        return -ENOENT;
    int n = snprintf(ret_path, PATH_MAX, "%s/.cache/chokepoint/%016" PRIx64 "/" NAME,
                     home[1] ? home : "", digest);
    return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* ---- contents ---- */

struct contents {
    void *data;
    size_t size;
};

static int map(const char *path, struct contents *ret_contents) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return negative_errno();
    int r = fstat(fd, &st) < 0 ? negative_errno() : S_ISREG(st.st_mode) && st.st_size ? 0 : -EINVAL;
    if (r == 0) {
        ret_contents->size = (size_t)st.st_size;
        ret_contents->data = mmap(NULL, ret_contents->size, PROT_READ, MAP_PRIVATE, fd, 0);
        r = ret_contents->data == MAP_FAILED ? negative_errno() : 0;
    }
    close(fd);
    return r;
}

static uint64_t digest_of(const struct contents *contents) {
    return siphash((const uint64_t[2]){0, 0}, contents->data, contents->size);
}

int mpi_library_digest(const char *path, uint64_t *ret_digest) {
    struct contents contents;
    int r = map(path, &contents);
    if (r < 0)
        return r;
    *ret_digest = digest_of(&contents);
    munmap(contents.data, contents.size);
    return 0;
}

static int check_mount(const char *path) {
    struct statvfs fs;
    if (statvfs(path, &fs) < 0)
        return negative_errno();
    return fs.f_flag & ST_NOEXEC ? -ENOEXEC : 0;
}

int mpi_library_check(const char *path, uint64_t *ret_digest) {
    struct contents contents;
    int r = private_path_check(path);
    if (r == 0)
        r = check_mount(path);
    if (r == 0)
        r = map(path, &contents);
    if (r < 0)
        return r;
    bool same = memmem(contents.data, contents.size, version, sizeof version);
    if (same)
        *ret_digest = digest_of(&contents);
    munmap(contents.data, contents.size);
    return same ? 0 : -ESTALE;
}

/* ---- installation ---- */

/* The directory of the path. Makes its last MADE_DIRECTORIES if they lie in a private path. */
static int make_directory(const char *path, char to[PATH_MAX]) {
    char *ends[MADE_DIRECTORIES + 1];
    if ((size_t)snprintf(to, PATH_MAX, "%s", path) >= PATH_MAX)
        return -ENAMETOOLONG;
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        ends[i] = strrchr(to, '/');
        if (!ends[i])
            return -EINVAL;
        *ends[i] = '\0';
    }
    int r = private_path_check(*to ? to : "/");
    for (size_t i = MADE_DIRECTORIES; r == 0 && i > 0; i--) {
        *ends[i] = '/';
        r = mkdir(to, 0700) < 0 && errno != EEXIST ? negative_errno() : 0;
    }
    if (r == 0)
        r = private_path_check(to);
    return r < 0 ? r : check_mount(to);
}

static int copy_tail(int from, uint64_t size, int to) {
    struct stat info;
    if (fstat(from, &info) < 0)
        return negative_errno();
    if (size == 0 || (uint64_t)info.st_size < size)
        return -ENODATA;
    off_t at = info.st_size - (off_t)size;
    while (at < info.st_size) {
        ssize_t n = sendfile(to, from, &at, (size_t)(info.st_size - at));
        if (n <= 0)
            return n < 0 ? negative_errno() : -ENODATA;
    }
    return 0;
}

int mpi_library_place(int from_fd, uint64_t size, const char *path) {
    char directory[PATH_MAX], made[PATH_MAX];
    int r = make_directory(path, directory);
    if (r < 0)
        return r;
    if ((size_t)snprintf(made, sizeof made, "%.*s/" NAME "-XXXXXX", PATH_MAX - 40, directory) >=
        sizeof made)
        return -ENAMETOOLONG;
    int to = mkostemp(made, O_CLOEXEC);
    if (to < 0)
        return negative_errno();
    r = copy_tail(from_fd, size, to);
    if (close(to) < 0 && r == 0)
        r = negative_errno();
    if (r == 0 && rename(made, path) < 0)
        r = negative_errno();
    if (r < 0)
        unlink(made);
    return r;
}
