/* SPDX-License-Identifier: MIT */
#include "common/private_path.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/limits.h>

#include "common/error.h"

#define LINKS_MAX 40 /* as in the kernel */

/* true: this part may be writable for others if it is sticky. */
struct sharing {
    bool way, end;
};

static int check_parts(const char *path, struct sharing sharing, unsigned links);

/* Checks the target of a link, and links on the way there. The directory of the link is checked
 * already. */
static int check_target(const char *link, struct sharing sharing, unsigned links) {
    char path[2 * PATH_MAX], directory[PATH_MAX], target[PATH_MAX];
    ssize_t n = readlink(link, target, sizeof target - 1);
    if (n < 0)
        return negative_errno();
    target[n] = '\0';
    if (links == LINKS_MAX)
        return -ELOOP;
    if (target[0] == '/')
        return check_parts(target, sharing, links + 1);
    snprintf(path, sizeof path, "%.*s/", (int)(strrchr(link, '/') - link), link);
    if (!realpath(path, directory))
        return negative_errno();
    snprintf(path, sizeof path, "%s/%s", directory, target);
    return check_parts(path, sharing, links + 1);
}

/* The mode of a symbolic link means nothing. */
static int check_part(const char *part, struct sharing sharing, unsigned links) {
    struct stat st;
    if (lstat(part, &st) < 0)
        return negative_errno();
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return -EPERM;
    if (S_ISLNK(st.st_mode))
        return check_target(part, sharing, links);
    bool shared = st.st_mode & (S_IWGRP | S_IWOTH);
    return shared && !(sharing.end && st.st_mode & S_ISVTX) ? -EPERM : 0;
}

static int check_parts(const char *path, struct sharing sharing, unsigned links) {
    const struct sharing on_the_way = {sharing.way, sharing.way};
    char part[PATH_MAX];
    if (path[0] != '/')
        return -EPERM;
    int r = check_part("/", on_the_way, links);
    for (size_t end = 1; r == 0 && path[end]; end += path[end] == '/') {
        end += strcspn(path + end, "/");
        if (end >= sizeof part)
            return -ENAMETOOLONG;
        memcpy(part, path, end);
        part[end] = '\0';
        r = check_part(part, path[end] ? on_the_way : sharing, links);
    }
    return r;
}

static int check(const char *path, bool may_be_shared) {
    const struct sharing sharing = {.way = may_be_shared};
    char real[PATH_MAX];
    int r = check_parts(path, sharing, 0);
    if (r == 0 && !realpath(path, real))
        r = negative_errno();
    return r < 0 ? r : check_parts(real, sharing, 0);
}

int private_path_check(const char *path) {
    return check(path, true);
}

int private_path_check_unshared(const char *path) {
    return check(path, false);
}
