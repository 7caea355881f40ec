/* SPDX-License-Identifier: MIT */
#include "agent/spool/spool_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/private_path.h"
#include "common/segment_name.h"

/* Removes slashes at the end, behind which a link would be followed. */
static int bare_path(const char *path, char to[PATH_MAX]) {
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    int n = snprintf(to, PATH_MAX, "%.*s", (int)size, path);
    return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int check(int fd) {
    struct stat st;
    if (fstat(fd, &st) < 0)
        return negative_errno();
    return st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)) ? 0 : -EPERM;
}

static int open_bare(const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int r = fd < 0 ? negative_errno() : check(fd);
    if (fd < 0 && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        r = -ELOOP;
    if (fd >= 0 && r < 0)
        close(fd);
    return r < 0 ? r : fd;
}

int spool_dir_open(const char *path, bool *ret_made) {
    char bare[PATH_MAX];
    int r = bare_path(path, bare);
    if (r < 0)
        return r;
    bool made = mkdir(bare, 0700) == 0;
    if (!made && errno != EEXIST)
        return negative_errno();
    if (ret_made)
        *ret_made = made;
    return open_bare(bare);
}

const char *spool_dir_place(void) {
    const char *tmp = getenv("TMPDIR");
    return tmp && tmp[0] == '/' ? tmp : "/tmp";
}

static int make_in(const char *place, const char *run, char ret_path[PATH_MAX]) {
    int n = snprintf(ret_path, PATH_MAX, "%s/" SPOOL_DIR_PREFIX "XXXXXX", place);
    if (n >= PATH_MAX)
        return -ENAMETOOLONG;
    if (!mkdtemp(ret_path))
        return negative_errno();
    int fd = open_bare(ret_path);
    if (fd < 0 || !*run || symlinkat(run, fd, SPOOL_RUN_LINK) == 0)
        return fd;
    int r = negative_errno();
    close(fd);
    rmdir(ret_path);
    return r;
}

/* $TMPDIR may come from another host, and be missing or somebody else's here. */
int spool_dir_make(const char *run, char ret_path[PATH_MAX]) {
    static const char common[] = "/tmp";
    const char *place = spool_dir_place();
    int fd = make_in(place, run, ret_path);
    if (strcmp(place, common) == 0 || (fd >= 0 && private_path_check(ret_path) == 0))
        return fd;
    if (fd >= 0) {
        close(fd);
        spool_dir_remove(ret_path);
    }
    return make_in(common, run, ret_path);
}

void spool_dir_remove(const char *path) {
    char run[NAME_MAX + 1];
    int fd = open_bare(path);
    if (fd < 0)
        return;
    ssize_t n = readlinkat(fd, SPOOL_RUN_LINK, run, sizeof run - 1);
    unlinkat(fd, SPOOL_RUN_LINK, 0);
    run[n > 0 ? n : 0] = '\0';
    if (rmdir(path) < 0 && *run)
        (void)!symlinkat(run, fd, SPOOL_RUN_LINK); /* without it the files still tell the run */
    close(fd);
}

const char *spool_dir_words(int error) {
    return error == -ELOOP   ? "is a symbolic link, which no spool may be"
           : error == -EPERM ? "is not ours alone: it belongs to another user, or others may write "
                               "to it"
                             : strerror(-error);
}

static bool is_later(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

bool spool_dir_find_stream(int dir_fd, uint64_t *ret_stream) {
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct timespec newest = {0};
    bool found = false;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        uint64_t stream;
        uint32_t number;
        struct stat st;
        if (!segment_name_get(entry->d_name, &stream, &number) || stream % 2 ||
            fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
            (found && !is_later(&st.st_mtim, &newest)))
            continue;
        found = true;
        newest = st.st_mtim;
        *ret_stream = stream;
    }
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    return found;
}
