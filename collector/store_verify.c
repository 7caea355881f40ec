/* SPDX-License-Identifier: MIT */
/*
 * Reads the file on the disk without SQLite, which reads only the pages that a query needs. A page
 * that the log replaces is not damaged, whatever the file has there. Pages that were freed before
 * they were written are holes.
 */
#include "collector/store_verify.h"

#include "collector/store_cold.h"
#include "collector/store_pack.h"
#include "collector/store_packed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/store_private.h"
#include "common/error.h"

#define PIECE_BYTES (1u << 20) /* a multiple of every page size */
#define READS_MAX 3            /* tries: a page may be in the middle of a write */
#define LOCK_BYTE 0x40000000   /* the page with this byte is never written */
#define LOG_HEADER 32
#define FRAME_HEADER 24

struct raw {
    int fd, log_fd; /* -1: none */
    struct seal_header header;
    uint8_t log_header[LOG_HEADER];
    int error; /* of the first failed read, which proves no damage */
};

static uint32_t number_at(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool read_at(struct raw *raw, int fd, void *data, size_t size, off_t at) {
    ssize_t n = pread(fd, data, size, at);
    if (n < 0 && !raw->error)
        raw->error = negative_errno();
    return n == (ssize_t)size;
}

/* ---- pages without a valid seal that are not damaged ---- */

static bool is_zero(const uint8_t *page, size_t size) {
    return page[0] == 0 && memcmp(page, page + 1, size - 1) == 0;
}

/* A trunk of the list of free pages: the next trunk, how many pages it lists, and these pages. */
static bool is_free(struct raw *raw, uint32_t number) {
    uint8_t trunk[65536];
    uint32_t at = raw->header.free_page, size = raw->header.page_size;
    for (uint32_t n = 0; at && n <= raw->header.n_pages; n++) {
        if (!read_at(raw, raw->fd, trunk, size, (off_t)(at - 1) * size))
            return false;
        uint32_t listed = number_at(trunk + 4);
        for (uint32_t i = 0; i < listed && 4 * i + 12 <= size; i++)
            if (number_at(trunk + 8 + 4 * i) == number)
                return true;
        at = number_at(trunk);
    }
    return false;
}

/* Frames of the current log begin with their page's number and the log's salts. */
static bool is_in_log(struct raw *raw, uint32_t number) {
    uint8_t frame[FRAME_HEADER];
    off_t at = LOG_HEADER;
    while (raw->log_fd >= 0 && read_at(raw, raw->log_fd, frame, sizeof frame, at) &&
           memcmp(frame + 8, raw->log_header + 16, 8) == 0) {
        if (number_at(frame) == number)
            return true;
        at += FRAME_HEADER + (off_t)raw->header.page_size;
    }
    return false;
}

static bool is_good(struct raw *raw, const uint8_t *page, uint32_t number) {
    uint8_t again[65536];
    uint32_t size = raw->header.page_size;
    if (seal_matches(page, size, number) || number == LOCK_BYTE / size + 1)
        return true;
    for (int i = 0; i < READS_MAX; i++)
        if (read_at(raw, raw->fd, again, size, (off_t)(number - 1) * size) &&
            seal_matches(again, size, number))
            return true;
    return is_in_log(raw, number) || (is_zero(page, size) && is_free(raw, number));
}

/* ---- all pages ---- */

static int add_damage(struct verification *v, uint32_t number) {
    v->n_damaged++;
    if (v->n_damages == VERIFY_LISTED_MAX)
        return 0;
    if (!v->damages)
        v->damages = calloc(VERIFY_LISTED_MAX, sizeof *v->damages);
    if (!v->damages)
        return -ENOMEM;
    v->damages[v->n_damages++].page = number;
    return 0;
}

static int check_piece(struct raw *raw, const uint8_t *piece, size_t size, uint64_t first,
                       struct verification *v) {
    int r = 0;
    uint32_t page_size = raw->header.page_size;
    for (size_t at = 0; at + page_size <= size && r == 0; at += page_size) {
        uint32_t number = (uint32_t)(first + at / page_size);
        if (v->n_pages && number > v->n_pages)
            break;
        if (!is_good(raw, piece + at, number))
            r = add_damage(v, number);
    }
    return r;
}

static int check_pages(struct raw *raw, struct verification *v) {
    uint8_t *piece = malloc(PIECE_BYTES);
    uint32_t page_size = raw->header.page_size;
    ssize_t n = piece ? 1 : 0;
    int r = piece ? 0 : -ENOMEM;
    for (off_t at = 0; r == 0 && n > 0 && (uint64_t)at < v->n_pages * page_size; at += n) {
        n = pread(raw->fd, piece, PIECE_BYTES, at);
        n -= n > 0 ? n % page_size : 0;
        if (n > 0)
            r = check_piece(raw, piece, (size_t)n, (uint64_t)at / page_size + 1, v);
    }
    if (r == 0 && n < 0)
        r = negative_errno();
    free(piece);
    return r;
}

/* The number of pages. A file with a log may be shorter than it will be. */
static void count_pages(const struct raw *raw, off_t size, struct verification *v) {
    uint64_t there = (uint64_t)size / raw->header.page_size, expected = raw->header.n_pages;
    v->n_pages = expected && expected < there ? expected : there;
    if (expected > there && !v->log_bytes)
        v->n_missing = expected - there;
}

static int check_raw(struct raw *raw, struct verification *v) {
    uint8_t *first = malloc(65536);
    struct stat st;
    int r = first && fstat(raw->fd, &st) == 0 ? 0 : first ? negative_errno() : -ENOMEM;
    if (r == 0 && read_at(raw, raw->fd, first, SEAL_HEADER_BYTES, 0))
        raw->header = seal_header_read(first);
    v->page_size = raw->header.page_size;
    if (r == 0 && v->page_size) {
        count_pages(raw, st.st_size, v);
        if (read_at(raw, raw->fd, first, v->page_size, 0))
            v->seal = seal_state_of(&raw->header, first);
        if (v->seal == SEAL_HOLDS)
            r = check_pages(raw, v);
    }
    free(first);
    return r ? r : raw->error;
}

static int open_beside(struct raw *raw, const char *path, const char *ending, uint64_t *bytes) {
    char name[PATH_MAX];
    struct stat st;
    int n = snprintf(name, sizeof name, "%s%s", path, ending);
    if (n < 0 || (size_t)n >= sizeof name)
        return -1;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT)
        raw->error = negative_errno();
    if (fd >= 0 && fstat(fd, &st) == 0)
        *bytes += (uint64_t)st.st_size;
    return fd;
}

static int verify_file(const char *path, struct verification *v) {
    struct raw raw = {.fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    if (raw.fd < 0)
        return negative_errno();
    raw.log_fd = open_beside(&raw, path, "-wal", &v->log_bytes);
    int journal_fd = open_beside(&raw, path, "-journal", &v->log_bytes);
    if (raw.log_fd >= 0 && !read_at(&raw, raw.log_fd, raw.log_header, LOG_HEADER, 0)) {
        close(raw.log_fd);
        raw.log_fd = -1;
    }
    int r = check_raw(&raw, v);
    close(raw.fd);
    if (raw.log_fd >= 0)
        close(raw.log_fd);
    if (journal_fd >= 0)
        close(journal_fd);
    return r;
}

/* ---- names of damaged pages ---- */

static void name_page(struct verification *v, uint32_t page, const char *type, const char *name) {
    for (size_t i = 0; i < v->n_damages; i++)
        if (v->damages[i].page == page)
            snprintf(v->damages[i].object, sizeof v->damages[i].object, "%s %.64s", type, name);
}

/* One tree at a time: a damaged tree ends its own walk only. */
static void name_pages_of(sqlite3 *db, struct verification *v, const char *type, const char *name) {
    sqlite3_stmt *pages = NULL;
    sqlite3_prepare_v2(db, "SELECT pageno FROM dbstat WHERE name = ?", -1, &pages, NULL);
    sqlite3_bind_text(pages, 1, name, -1, SQLITE_STATIC);
    while (pages && sqlite3_step(pages) == SQLITE_ROW)
        name_page(v, (uint32_t)sqlite3_column_int64(pages, 0), type, name);
    sqlite3_finalize(pages);
}

/* Without checking seals, since damaged pages are read. */
static void name_pages(const char *path, struct verification *v) {
    struct store *store;
    sqlite3_stmt *trees = NULL;
    if (connect_unsealed(path, &store))
        return;
    sqlite3_set_authorizer(store->db, NULL, NULL); /* dbstat needs a table of its own */
    sqlite3_prepare_v2(store->db,
                       "SELECT type, name FROM sqlite_schema WHERE rootpage > 0"
                       " UNION ALL SELECT 'table', 'sqlite_schema'",
                       -1, &trees, NULL);
    while (trees && sqlite3_step(trees) == SQLITE_ROW) {
        char type[8], name[TABLE_NAME_MAX + 1];
        sql_column_text(trees, 0, type, sizeof type);
        sql_column_text(trees, 1, name, sizeof name);
        name_pages_of(store->db, v, type, name);
    }
    sqlite3_finalize(trees);
    store_close(store);
}

/* ---- files without seals ---- */

static int check_structure(struct store *store, struct verification *v) {
    AUTO(sql_finalize) sqlite3_stmt *check = NULL;
    int r = sql_prepare(store, "PRAGMA quick_check(1)", &check);
    int code = r ? SQLITE_DONE : sqlite3_step(check);
    if (code == SQLITE_ROW)
        sql_column_text(check, 0, v->structure, sizeof v->structure);
    else if ((r = r ? r : sql_errno(code)) == -EBADMSG)
        snprintf(v->structure, sizeof v->structure, "%s", sqlite3_errmsg(store->db));
    if (strcmp(v->structure, "ok") == 0)
        v->structure[0] = '\0';
    return r == -EBADMSG ? 0 : r;
}

/* Pages of a file that another program wrote may be whole, and what they hold not. */
static int check_blocks(struct store *store, struct verification *v) {
    int r = cold_check(store);
    if (r == -EBADMSG)
        snprintf(v->structure, sizeof v->structure, "packed columns do not unpack");
    return r == -EBADMSG ? 0 : r;
}

bool verification_is_good(const struct verification *v) {
    return v->n_damaged == 0 && v->n_missing == 0 && !v->structure[0];
}

void verification_release(struct verification *v) {
    free(v->damages);
    *v = (struct verification){0};
}

/* Opens the file as a database only if its pages show no damage. */
static int verify_plain(const char *path, struct verification *ret, char *why, size_t why_size) {
    struct store *store;
    struct stat st;
    *ret = (struct verification){0};
    int r = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? verify_file(path, ret) : 0;
    if (r == 0 && !verification_is_good(ret)) {
        name_pages(path, ret);
        return 0;
    }
    if (r == 0)
        r = store_open_read(path, &store, why, why_size);
    else
        snprintf(why, why_size, "%s cannot be read: %s", path, strerror(-r));
    if (r == -EBADMSG && ret->page_size) {
        snprintf(ret->structure, sizeof ret->structure, "%s", why);
        return 0;
    }
    if (r)
        return r;
    if (ret->seal != SEAL_HOLDS)
        r = check_structure(store, ret);
    if (r == 0 && !ret->structure[0])
        r = check_blocks(store, ret);
    store_close(store);
    if (r)
        snprintf(why, why_size, "%s cannot be read: %s", path, strerror(-r));
    return r;
}

/* A packed file has a checksum of its own, and sealed pages inside. */
static int verify_packed(const char *path, struct verification *ret, char *why, size_t why_size) {
    struct packed_copy copy;
    *ret = (struct verification){0};
    int r = packed_copy_make(path, &copy);
    if (r == -EBADMSG) {
        snprintf(ret->structure, sizeof ret->structure, "its packed bytes are damaged");
        return 0;
    }
    if (r) {
        snprintf(why, why_size, "%s cannot be unpacked: %s", path, strerror(-r));
        return r;
    }
    r = verify_plain(copy.path, ret, why, why_size);
    packed_copy_remove(&copy);
    return r;
}

int store_verify(const char *path, struct verification *ret, char *why, size_t why_size) {
    char packed[PATH_MAX];
    if (store_find_packed(path, packed))
        return verify_packed(packed, ret, why, why_size);
    return verify_plain(path, ret, why, why_size);
}
