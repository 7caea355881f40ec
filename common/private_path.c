/* SPDX-License-Identifier: MIT */
#include "common/private_path.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/limits.h>

#include "common/error.h"

/* The mode of a symbolic link says nothing; what it leads to is looked at by itself. */
static int check_part(const char *part, bool may_be_shared) {
    struct stat st;
    if (lstat(part, &st) < 0)
        return negative_errno();
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return -EPERM;
    bool shared = !S_ISLNK(st.st_mode) && st.st_mode & (S_IWGRP | S_IWOTH);
    return shared && !(may_be_shared && st.st_mode & S_ISVTX) ? -EPERM : 0;
}

static int check_parts(const char *path, bool may_be_shared) {
    char part[PATH_MAX];
    if (path[0] != '/')
        return -EPERM;
    int r = check_part("/", may_be_shared);
    for (size_t end = 1; r == 0 && path[end]; end += path[end] == '/') {
        end += strcspn(path + end, "/");
        if (end >= sizeof part)
            return -ENAMETOOLONG;
        memcpy(part, path, end);
        part[end] = '\0';
        r = check_part(part, may_be_shared && path[end]);
    }
    return r;
}

static int check(const char *path, bool may_be_shared) {
    char real[PATH_MAX];
    int r = check_parts(path, may_be_shared);
    if (r == 0 && !realpath(path, real))
        r = negative_errno();
    return r < 0 ? r : check_parts(real, may_be_shared);
}

int private_path_check(const char *path) {
    return check(path, true);
}

int private_path_check_unshared(const char *path) {
    return check(path, false);
}
