/* SPDX-License-Identifier: MIT */
/*
 * Whether the opened file is still the one that its path names. A file that is removed, moved or
 * replaced under a writer still takes writes, but nobody finds them there. So a writer checks this
 * before each transaction and after each commit; if it fails, commits are not acknowledged.
 *
 * The log of a moved file is folded in at once, so that the file is complete under its new name.
 * The file is used again if it comes back unchanged. A removed log is folded in from the open
 * descriptor, and begun anew.
 */
#include "collector/store_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"

static bool stat_is(const struct stat *st, const struct store_file *file) {
    return (uint64_t)st->st_dev == file->device && (uint64_t)st->st_ino == file->inode;
}

static struct store_file file_of(const struct stat *st) {
    return (struct store_file){(uint64_t)st->st_dev, (uint64_t)st->st_ino};
}

int identity_keep(struct store *store, const char *path) {
    struct stat st;
    int moved = 0;
    store->path = strdup(path); /* without it no descriptor counts as the file's */
    if (!store->path)
        return -ENOMEM;
    store->file_fd = open(path, O_PATH | O_CLOEXEC);
    if (store->file_fd < 0 || fstat(store->file_fd, &st) < 0)
        return negative_errno();
    store->file = file_of(&st);
    int code = sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return code == SQLITE_OK && moved ? -ESTALE : 0;
}

void identity_release(struct store *store) {
    if (store->path && store->file_fd >= 0)
        close(store->file_fd);
    free(store->path);
}

struct store_file store_file_of(const struct store *store) {
    return store->file;
}

/* ---- the file ---- */

/* The present path of the file, or "" if it is unlinked. */
static void name_now(const struct store *store, char name[PATH_MAX]) {
    char link[64];
    struct stat st;
    snprintf(link, sizeof link, "/proc/self/fd/%d", store->file_fd);
    ssize_t n =
        fstat(store->file_fd, &st) == 0 && st.st_nlink ? readlink(link, name, PATH_MAX - 1) : 0;
    name[n < 0 ? 0 : n] = '\0';
}

static void explain_move(struct store *store, bool replaced) {
    char name[PATH_MAX], text[2 * PATH_MAX + 160];
    const char *other = replaced ? ", and another file is in its place" : "";
    name_now(store, name);
    if (name[0])
        snprintf(text, sizeof text, "%s was moved to %s%s; what was recorded until then is there",
                 store->path, name, other);
    else
        snprintf(text, sizeof text, "%s was removed%s; what was recorded until then is lost",
                 store->path, other);
    text_sanitize(store->why, sizeof store->why, text, strlen(text));
}

static bool same_time(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool log_is_there(const struct store *store, const char *ending, struct store_file *known,
                         char path[PATH_MAX]) {
    struct stat st;
    int n = snprintf(path, PATH_MAX, "%s%s", store->path, ending);
    bool found = n > 0 && n < PATH_MAX && stat(path, &st) == 0;
    if (found && !known->inode)
        *known = file_of(&st);
    return !known->inode || (found && stat_is(&st, known));
}

/* Leaves the file, once only: all acknowledged rows are in it afterwards, wherever it is. The log
 * must not remain under the old name: a new database at that path would take it for its own. */
static void leave_file(struct store *store) {
    char path[PATH_MAX];
    if (store->left)
        return;
    sqlite3_exec(store->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
    if (store->log.inode && log_is_there(store, "-wal", &store->log, path))
        unlink(path);
    if (store->log_index.inode && log_is_there(store, "-shm", &store->log_index, path))
        unlink(path);
    store->left = fstat(store->file_fd, &store->left_as) == 0;
}

static int check_file(struct store *store) {
    struct stat st, now;
    bool found = stat(store->path, &st) == 0;
    if (found && stat_is(&st, &store->file)) {
        if (!store->left)
            return 0;
        if (fstat(store->file_fd, &now) == 0 && now.st_size == store->left_as.st_size &&
            same_time(&now.st_mtim, &store->left_as.st_mtim)) {
            store->left = false;
            sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, (int *)NULL);
            return 0;
        }
        snprintf(store->why, sizeof store->why,
                 "the database was written to by another program while it was elsewhere");
        return -ESTALE;
    }
    leave_file(store);
    explain_move(store, found);
    return -ESTALE;
}

/* ---- its log ---- */

static int check_log(struct store *store) {
    char path[PATH_MAX];
    if (log_is_there(store, "-wal", &store->log, path) &&
        log_is_there(store, "-shm", &store->log_index, path))
        return 0;
    if (!sqlite3_get_autocommit(store->db) ||
        sqlite3_exec(store->db, "PRAGMA journal_mode=DELETE; PRAGMA journal_mode=WAL", NULL, NULL,
                     NULL) != SQLITE_OK) {
        snprintf(store->why, sizeof store->why, "the log of the database (-wal, -shm) was removed");
        return -ESTALE;
    }
    store->log = store->log_index = (struct store_file){0};
    return 0;
}

int store_check_file(struct store *store) {
    if (!store->path || !store->writable)
        return 0;
    int r = check_file(store);
    return r ? r : check_log(store);
}
