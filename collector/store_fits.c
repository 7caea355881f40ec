/* SPDX-License-Identifier: MIT */
/*
 * Whether a file has the tables that this store reads and writes, checked before anything depends
 * on it. A writer asks SQLite: it prepares each fixed statement, and selects the columns that
 * column_info names. SQLite's message then names what is missing.
 *
 * This file also finds files whose writer was killed before it made a table: no bytes, or an
 * incomplete first page. Such a file is as good as new.
 */
#include "collector/store_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"

#define PAGE_BYTES 4096
#define MAGIC "SQLite format 3" /* the first 16 bytes, with the NUL */
#define PAGE_SIZE_AT 16         /* two bytes, big-endian */
/* The bytes by which SQLite's processes lock a file (its file format, "The Lock-Byte Page"). */
#define LOCK_AT 0x40000000
#define LOCK_BYTES 512

/* ---- tables ---- */

/* These must be plain tables: a view of their name could hold any query. */
int fits_base(struct store *store, const char **ret_missing) {
    static const char *const names[] = {"run",      "run_note", "refused",       "host",
                                        "stream",   "frame",    "table_info",    "column_info",
                                        "instance", "clock",    "counter_reset", "counter_state"};
    *ret_missing = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        bool has;
        int r = sql_has_table(store, names[i], &has);
        if (r)
            return r;
        if (!has)
            return *ret_missing = names[i], -EBADMSG;
    }
    return 0;
}

/* Copied: SQLite's next call overwrites it. */
static int keep_message(struct store *store, int r) {
    if (r && !store->why[0])
        snprintf(store->why, sizeof store->why, "%s", sqlite3_errmsg(store->db));
    return r;
}

/* Qualified: SQLite takes a quoted name that is no column for a text. */
static int check_data_table(struct store *store, const struct data_table *table) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    sqlite3_str *text = sqlite3_str_new(store->db);
    sqlite3_str_appendf(text, "SELECT t.frame, t.instance, t.%s",
                        table->kind == TABLE_EVENTS ? "n" : "interval_ns");
    for (size_t i = 0; i < table->n_columns; i++)
        sqlite3_str_appendf(text, ", t.\"%w\"", table->columns[i].name);
    sqlite3_str_appendf(text, " FROM \"%w\" t", table->name);
    return keep_message(store, sql_prepare_made(store, sqlite3_str_finish(text), &statement));
}

static int check_data_tables(struct store *store) {
    AUTO(sql_finalize) sqlite3_stmt *names = NULL;
    struct data_table *table;
    char name[TABLE_NAME_MAX + 1];
    int code, r = sql_prepare(store, "SELECT name FROM table_info", &names);
    if (r)
        return r;
    while ((code = sqlite3_step(names)) == SQLITE_ROW) {
        sql_column_text(names, 0, name, sizeof name);
        r = table_load(store, name, &table);
        if (r > 0)
            r = check_data_table(store, table);
        if (r)
            return r;
    }
    return sql_errno(code);
}

int fits_all(struct store *store) {
    int r = sql_prepare_all(store);
    return r ? keep_message(store, r) : check_data_tables(store);
}

/* ---- a file without tables ---- */

/* Whether the bytes begin a page of a store that was cut short, or never written. */
static bool is_begun(const unsigned char *bytes, size_t size) {
    static const unsigned char zeros[PAGE_BYTES];
    size_t magic = size < sizeof MAGIC ? size : sizeof MAGIC;
    if (memcmp(bytes, zeros, size) == 0)
        return true;
    bool ours = size < PAGE_SIZE_AT + 2 ||
                (bytes[PAGE_SIZE_AT] << 8 | bytes[PAGE_SIZE_AT + 1]) == PAGE_BYTES;
    return size < PAGE_BYTES && memcmp(bytes, MAGIC, magic) == 0 && ours;
}

/* A journal or log may hold the missing part: SQLite folds it in. */
static bool has_log(const char *path) {
    static const char *const endings[] = {"-journal", "-wal"};
    char name[PATH_MAX];
    struct stat st;
    for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
        int n = snprintf(name, sizeof name, "%s%s", path, endings[i]);
        if (n < 0 || n >= PATH_MAX || (stat(name, &st) == 0 && st.st_size > 0))
            return true;
    }
    return false;
}

static bool is_unmade_fd(int fd) {
    unsigned char bytes[PAGE_BYTES];
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > PAGE_BYTES)
        return false;
    ssize_t n = pread(fd, bytes, sizeof bytes, 0);
    return n == st.st_size && is_begun(bytes, (size_t)n);
}

bool fits_is_unmade(const char *path) {
    struct stat st;
    /* To close a file drops all locks that this process holds on it, SQLite's too: one that may be
     * read or written already is longer, and is not opened. */
    if (stat(path, &st) < 0 || st.st_size > PAGE_BYTES)
        return false;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool unmade = fd >= 0 && is_unmade_fd(fd) && !has_log(path);
    if (fd >= 0)
        close(fd);
    return unmade;
}

int fits_begin_again(const char *path) {
    const struct flock lock = {.l_type = F_WRLCK, .l_start = LOCK_AT, .l_len = LOCK_BYTES};
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return negative_errno();
    int r = fcntl(fd, F_OFD_SETLK, &lock) < 0 ? -EBUSY : 0; /* another process is making it */
    if (r == 0 && is_unmade_fd(fd) && !has_log(path) && ftruncate(fd, 0) < 0)
        r = negative_errno();
    close(fd);
    return r;
}
