/* SPDX-License-Identifier: MIT */
/*
 * Reads what a killed writer left. Its journal or log must be folded into the file before anybody
 * can read it, and SQLite does that only with the right to write. With that right the file is
 * healed in place, as any program that opens it for writing would do. Without it (a read-only file
 * system, another user's file) a private copy is healed and read; the copy is unlinked as soon as
 * it is open. A file without journal or log needs no healing and is read as immutable.
 */
#include "collector/store_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"

#define COPIES_MAX 3 /* tries while the file changes */
#define PIECE_BYTES (64u << 20)

/* The file, its journal and its log. */
static const char *const endings[] = {"", "-journal", "-wal"};
#define N_FILES ARRAY_SIZE(endings)

struct copy {
    char directory[PATH_MAX], path[PATH_MAX + 8];
    struct stat was[N_FILES];
};

static bool path_of(const char *path, size_t i, char name[PATH_MAX]) {
    int n = snprintf(name, PATH_MAX, "%s%s", path, endings[i]);
    return n > 0 && n < PATH_MAX;
}

/* A missing file counts as an empty one. */
static void stat_files(const char *path, struct stat stats[N_FILES]) {
    char name[PATH_MAX];
    for (size_t i = 0; i < N_FILES; i++)
        if (!path_of(path, i, name) || stat(name, &stats[i]) < 0)
            stats[i] = (struct stat){0};
}

static bool is_same_file(const struct stat *a, const struct stat *b) {
    return a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* SQLite creates and removes files beside the database. */
static bool may_change(const char *path) {
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int n = snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path + 1) : 1,
                     slash ? path : ".");
    return n > 0 && (size_t)n < sizeof directory && access(path, W_OK) == 0 &&
           access(directory, W_OK) == 0;
}

/* ---- the copy ---- */

static int copy_bytes(int in, int out) {
    ssize_t n;
    while ((n = sendfile(out, in, NULL, PIECE_BYTES)) > 0)
        ;
    return n < 0 ? negative_errno() : 0;
}

static int copy_file(const char *from, const char *to) {
    int in = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (in < 0)
        return negative_errno();
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int r = out < 0 ? negative_errno() : copy_bytes(in, out);
    close(in);
    if (out >= 0 && close(out) < 0 && r == 0)
        r = negative_errno();
    return r;
}

static int copy_all(const char *path, struct copy *copy) {
    char from[PATH_MAX], to[PATH_MAX];
    int r = 0;
    for (size_t i = 0; i < N_FILES && r == 0; i++) {
        if (!path_of(path, i, from) || !path_of(copy->path, i, to))
            return -ENAMETOOLONG;
        if (i && copy->was[i].st_size == 0)
            unlink(to);
        else
            r = copy_file(i ? from : path, to);
    }
    return r;
}

/* Repeats until the file did not change during the copy. */
static int copy_unchanged(const char *path, struct copy *copy) {
    for (int i = 0; i < COPIES_MAX; i++) {
        struct stat now[N_FILES];
        stat_files(path, copy->was);
        int r = copy_all(path, copy);
        if (r)
            return r;
        stat_files(path, now);
        bool same = true;
        for (size_t k = 0; k < N_FILES; k++)
            same = same && is_same_file(&copy->was[k], &now[k]);
        if (same)
            return 0;
    }
    return -EBUSY;
}

int private_directory(char ret_path[PATH_MAX]) {
    const char *parent = getenv("TMPDIR");
    int n =
        snprintf(ret_path, PATH_MAX, "%s/chokepoint-XXXXXX", parent && *parent ? parent : "/tmp");
    if (n < 0 || n >= PATH_MAX)
        return -ENAMETOOLONG;
    return mkdtemp(ret_path) ? 0 : negative_errno();
}

static int make_directory(struct copy *copy) {
    int r = private_directory(copy->directory);
    if (r == 0)
        snprintf(copy->path, sizeof copy->path, "%s/db", copy->directory);
    return r;
}

static void remove_copy(const struct copy *copy) {
    char name[PATH_MAX];
    for (size_t i = 0; i < N_FILES; i++)
        if (path_of(copy->path, i, name))
            unlink(name);
    rmdir(copy->directory);
}

/* ---- healing ---- */

/* Folds all into one plain file, if nobody else has it open. */
static int heal_in_place(const char *path) {
    struct store *store;
    int r = connect_file(path, SQLITE_OPEN_READWRITE, &store);
    if (r)
        return r;
    r = sql_exec(store, "SELECT count(*) FROM sqlite_schema");
    if (!r)
        sqlite3_exec(store->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    store_close(store);
    return r;
}

static int open_copy(const char *path, struct store **ret_store) {
    struct copy copy;
    int r = make_directory(&copy);
    if (r)
        return r;
    r = copy_unchanged(path, &copy);
    if (!r)
        r = heal_in_place(copy.path);
    if (!r)
        r = connect_file(copy.path, SQLITE_OPEN_READONLY, ret_store);
    if (!r && (r = sql_exec(*ret_store, "SELECT count(*) FROM sqlite_schema"))) /* opens it */
        store_close(*ret_store);
    remove_copy(&copy);
    return r;
}

static int open_unchanging(const char *path, struct store **ret_store) {
    char uri[3 * PATH_MAX + 32], *to = uri;
    to += sprintf(to, "file:%s", path[0] == '/' ? "" : "./");
    for (const char *p = path; *p && to < uri + sizeof uri - 32; p++)
        to += strchr("?#%", *p) ? sprintf(to, "%%%02x", (unsigned char)*p) : sprintf(to, "%c", *p);
    strcpy(to, "?immutable=1");
    return connect_uri(uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, ret_store);
}

int heal_connect(const char *path, struct store **ret_store) {
    struct stat stats[N_FILES];
    if (access(path, R_OK) < 0)
        return negative_errno();
    if (may_change(path)) {
        int r = heal_in_place(path);
        return r ? r : connect_file(path, SQLITE_OPEN_READONLY, ret_store);
    }
    stat_files(path, stats);
    bool plain = stats[1].st_size == 0 && stats[2].st_size == 0;
    return plain ? open_unchanging(path, ret_store) : open_copy(path, ret_store);
}
