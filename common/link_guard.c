/* SPDX-License-Identifier: MIT */
/*
 * The owner of a symbolic link decides where a writer that follows it writes, and root may write
 * anywhere. A path without links is not checked further: the user chose its directories.
 */
#include "common/link_guard.h"
#include "common/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as in the kernel */

struct walk {
    char done[PATH_MAX]; /* without links; "" is the root directory */
    char rest[PATH_MAX];
    unsigned links;
};

static bool is_foreign(uid_t owner) {
    return owner != geteuid() && owner != 0;
}

/* In a directory with the sticky bit only the link's owner can replace the link. */
static bool others_may_replace(const char *directory) {
    struct stat st;
    if (stat(directory[0] ? directory : "/", &st) < 0 || is_foreign(st.st_uid))
        return true;
    bool writable =
        st.st_mode & S_IWOTH || (st.st_mode & S_IWGRP && st.st_gid != getegid() && st.st_gid != 0);
    return writable && !(st.st_mode & S_ISVTX);
}

static int put(char to[PATH_MAX], const char *first, const char *separator, const char *second) {
    char text[2 * PATH_MAX + 2];
    int n = snprintf(text, sizeof text, "%s%s%s", first, separator, second);
    if (n < 0 || n >= PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(to, text, (size_t)n + 1);
    return 0;
}

/* Replaces the link in the path by its target. */
static int follow(struct walk *walk, const char *link, const struct stat *st) {
    char target[PATH_MAX];
    if (is_foreign(st->st_uid) || others_may_replace(walk->done))
        return -EPERM;
    if (++walk->links > LINKS_MAX)
        return -ELOOP;
    ssize_t n = readlink(link, target, sizeof target - 1);
    if (n < 0)
        return negative_errno();
    target[n] = '\0';
    if (target[0] == '/')
        walk->done[0] = '\0';
    return put(walk->rest, target, "/", walk->rest);
}

static void leave_directory(char *done) {
    char *slash = strrchr(done, '/');
    if (slash)
        *slash = '\0';
}

/* Takes the first part off the rest. False: nothing is left. */
static bool next_part(struct walk *walk, char part[PATH_MAX]) {
    const char *begin = walk->rest + strspn(walk->rest, "/");
    size_t size = strcspn(begin, "/");
    snprintf(part, PATH_MAX, "%.*s", (int)size, begin);
    memmove(walk->rest, begin + size, strlen(begin + size) + 1);
    return size > 0;
}

static int take_part(struct walk *walk, const char *part, char ret_link[PATH_MAX]) {
    struct stat st;
    if (strcmp(part, ".") == 0)
        return 0;
    if (strcmp(part, "..") == 0)
        return leave_directory(walk->done), 0;
    int r = put(ret_link, walk->done, "/", part);
    if (r < 0)
        return r;
    if (lstat(ret_link, &st) == 0 && S_ISLNK(st.st_mode))
        return follow(walk, ret_link, &st);
    return put(walk->done, ret_link, "", "");
}

int link_guard(const char *path, char ret_link[PATH_MAX]) {
    struct walk walk = {0};
    char part[PATH_MAX];
    int r = put(walk.rest, path, "", "");
    if (r == 0 && path[0] != '/' && !getcwd(walk.done, sizeof walk.done))
        r = negative_errno();
    if (strcmp(walk.done, "/") == 0)
        walk.done[0] = '\0';
    while (r == 0 && next_part(&walk, part))
        r = take_part(&walk, part, ret_link);
    return r;
}
