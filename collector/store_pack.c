/* SPDX-License-Identifier: MIT */
/*
 * Packs and unpacks a file in place. Samples are blocks in the copy that is packed; rows with
 * values that no block can hold are packed as rows. The new file is complete, compared and synced
 * before it gets its name; then the old one is removed. If the process is killed between, one of
 * the two or both are left. The database's write lock is held throughout; descriptors of the
 * database are closed after the store, since closing any of them would release the lock.
 */
#include "collector/store_pack.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/store_cold.h"
#include "collector/store_edit.h"
#include "collector/store_guard.h"
#include "collector/store_packed.h"
#include "collector/store_private.h"
#include "collector/store_verify.h"
#include "common/error.h"
#include "common/transfer.h"

#define PART_ENDING ".part"
#define COLD_ENDING ".cold"

struct packing {
    const char *from;
    char to[PATH_MAX], part[PATH_MAX + 8], cold[PATH_MAX + 8];
    int in, out; /* -1: not open */
    int copy;    /* the copy with blocks, as the database to pack; -1: not open */
    char *why;
    size_t why_size;
};

static int say(struct packing *p, int r, const char *what) {
    store_say(p->why, p->why_size, "%s: %s: %s", p->from, what, strerror(-r));
    return r;
}

static int sync_directory(const char *path) {
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return negative_errno();
    int r = fsync(fd) < 0 && errno != EINVAL ? negative_errno() : 0;
    close(fd);
    return r;
}

/* The names, and a temporary file beside them, which a killed process may have left. */
static int open_both(struct packing *p) {
    struct stat st;
    if (lstat(p->to, &st) == 0) {
        store_say(p->why, p->why_size, "%s is there already: move or remove one of the two", p->to);
        return -EEXIST;
    }
    p->in = open(p->from, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (p->in < 0 || fstat(p->in, &st) < 0)
        return say(p, negative_errno(), "it cannot be read");
    snprintf(p->part, sizeof p->part, "%s" PART_ENDING, p->to);
    unlink(p->part);
    p->out = open(p->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (p->out < 0 || fchmod(p->out, st.st_mode & 0777) < 0)
        return say(p, negative_errno(), "no file can be written beside it");
    return 0;
}

/* The new file has its name now: removes the old one, or the new one again if that fails. */
static int leave_place(struct packing *p) {
    unlink(p->part);
    int r = sync_directory(p->to);
    if (r)
        say(p, r, "the other file cannot be written");
    else if (unlink(p->from) < 0)
        r = say(p, negative_errno(), "it cannot be removed");
    if (r)
        unlink(p->to);
    return r;
}

/* Does not replace a file that was created meanwhile. */
static int change_places(struct packing *p) {
    int r = fsync(p->out) < 0 ? negative_errno() : 0;
    if (r == 0 && linkat(AT_FDCWD, p->part, AT_FDCWD, p->to, 0) < 0)
        r = negative_errno();
    return r ? say(p, r, "the other file cannot be written") : leave_place(p);
}

static void close_both(struct packing *p) {
    if (p->out >= 0) {
        unlink(p->part);
        close(p->out);
    }
    if (p->in >= 0)
        close(p->in);
    if (p->copy >= 0)
        close(p->copy);
}

static int note_sizes(struct packing *p, bool packs, struct pack_result *ret) {
    struct stat in, out;
    if (fstat(p->in, &in) < 0 || fstat(p->out, &out) < 0)
        return negative_errno();
    snprintf(ret->path, sizeof ret->path, "%s", p->to);
    ret->plain_bytes = (uint64_t)(packs ? in : out).st_size;
    ret->packed_bytes = (uint64_t)(packs ? out : in).st_size;
    return 0;
}

/* ---- packing ---- */

static int check_seals(struct packing *p) {
    struct verification v;
    int r = store_verify(p->from, &v, p->why, p->why_size);
    if (r == 0 && !verification_is_good(&v)) {
        store_say(p->why, p->why_size,
                  "%s is damaged and stays as it is: `chokepoint verify` lists its pages", p->from);
        r = -EBADMSG;
    }
    verification_release(&v);
    return r;
}

/* SQLite reports no error if the log stays; rows that are only in the log would be missing in the
 * packed file. */
static int leave_log(struct store *store) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    char mode[16] = "";
    int r = sql_prepare(store, "PRAGMA journal_mode=DELETE", &statement);
    if (r)
        return r;
    if (sqlite3_step(statement) == SQLITE_ROW)
        sql_column_text(statement, 0, mode, sizeof mode);
    r = sql_reset(statement);
    return r ? r : strcmp(mode, "delete") == 0 ? 0 : -EIO;
}

/* Makes one plain file with full pages, which no other process can write to. */
static int lock(struct packing *p, struct store *store) {
    int r = store_compact(store);
    if (r == 0)
        r = leave_log(store);
    if (r == 0)
        r = sql_exec(store, "BEGIN IMMEDIATE");
    if (r == 0)
        r = store_check_file(store);
    if (r == -EBUSY)
        store_say(p->why, p->why_size, "another program has %s open: try again when it has ended",
                  p->from);
    else if (r)
        say(p, r, "it cannot be compacted");
    return r;
}

/* For a file of this process alone, which is of no use after a failure: it needs no journal. */
static int begin_turn(const char *path, struct store **ret_store) {
    int r = connect_file(path, SQLITE_OPEN_READWRITE, ret_store);
    if (r)
        return r;
    (*ret_store)->writable = true;
    r = sql_exec(*ret_store, "PRAGMA synchronous=OFF");
    if (!r)
        r = sql_exec(*ret_store, "PRAGMA journal_mode=OFF");
    if (!r)
        r = sql_exec(*ret_store, "BEGIN");
    if (r)
        store_close(*ret_store);
    return r;
}

/* Turns samples of the file into blocks, or blocks into rows. */
static int turn_samples(const char *path, int (*turn)(struct store *store)) {
    struct store *store;
    int r = begin_turn(path, &store);
    if (r)
        return r;
    r = turn(store);
    if (!r)
        r = sql_exec(store, "COMMIT");
    if (!r)
        r = store_vacuum(store);
    store_close(store);
    return r;
}

static int pack_copy(int in, int out) {
    char piece[65536];
    ssize_t n = 1;
    int r = lseek(in, 0, SEEK_SET) < 0 ? negative_errno() : 0;
    while (!r && (n = transfer_read(in, piece, sizeof piece)) > 0)
        r = transfer_write(out, piece, (size_t)n);
    return r ? r : n < 0 ? (int)n : 0;
}

/* The copy has no name once it is made. -ERANGE: as cold_pack. */
static int make_cold(struct packing *p) {
    snprintf(p->cold, sizeof p->cold, "%s" COLD_ENDING, p->to);
    unlink(p->cold);
    p->copy = open(p->cold, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (p->copy < 0)
        return negative_errno();
    int r = pack_copy(p->in, p->copy);
    if (!r)
        r = turn_samples(p->cold, cold_pack);
    unlink(p->cold);
    return r;
}

static int pack_and_compare(struct packing *p) {
    struct stat st;
    uint64_t size;
    int r = make_cold(p);
    enum packed_form form = r == -ERANGE ? PACKED_PLAIN : PACKED_COLD;
    int *from = form == PACKED_COLD ? &p->copy : &p->in;
    r = r == -ERANGE ? 0 : r;
    if (!r && fstat(*from, &st) < 0)
        r = negative_errno();
    if (!r)
        r = packed_write(*from, (uint64_t)st.st_size, form, p->out);
    if (!r)
        r = packed_read(p->out, packed_compare, from, &size);
    return r ? say(p, r, "it cannot be packed") : 0;
}

static int pack_locked(struct packing *p, struct pack_result *ret) {
    int r = open_both(p);
    if (r == 0)
        r = pack_and_compare(p);
    if (r == 0)
        r = note_sizes(p, true, ret);
    return r ? r : change_places(p);
}

int store_pack(const char *path, struct pack_result *ret, char *why, size_t why_size) {
    struct packing p = {
        .from = path, .in = -1, .out = -1, .copy = -1, .why = why, .why_size = why_size};
    struct store *store;
    if (store_is_packed(path))
        return store_say(why, why_size, "%s is packed already", path), -EALREADY;
    int n = snprintf(p.to, sizeof p.to, "%s" PACK_ENDING, path);
    if (n < 0 || (size_t)n >= sizeof p.to)
        return say(&p, -ENAMETOOLONG, "it cannot be packed");
    int r = access(path, F_OK) < 0 ? negative_errno() : check_seals(&p);
    if (r == -ENOENT)
        store_say(why, why_size, "no database at %s", path);
    if (r)
        return r;
    r = store_open_write(path, &store, why, why_size);
    if (r)
        return r;
    r = lock(&p, store);
    if (r == 0)
        r = pack_locked(&p, ret);
    store_close(store);
    close_both(&p);
    return r;
}

/* ---- unpacking ---- */

static bool name_unpacked(struct packing *p) {
    size_t size = strlen(p->from), ending = strlen(PACK_ENDING);
    bool ends = size > ending && strcmp(p->from + size - ending, PACK_ENDING) == 0;
    int n = snprintf(p->to, sizeof p->to, "%.*s%s", (int)(ends ? size - ending : size), p->from,
                     ends ? "" : ".db");
    return n > 0 && (size_t)n < sizeof p->to;
}

static int check_part(struct packing *p) {
    struct verification v;
    int r = store_verify(p->part, &v, p->why, p->why_size);
    if (r == 0 && !verification_is_good(&v)) {
        store_say(p->why, p->why_size, "%s is damaged: its pages are not as they were written",
                  p->from);
        r = -EBADMSG;
    }
    verification_release(&v);
    return r;
}

/* Pages are checked as they were packed, and once more after blocks have become rows. */
static int unpack_and_check(struct packing *p) {
    uint64_t size;
    int r = packed_read(p->in, packed_to_file, &p->out, &size);
    if (r == -EBADMSG) {
        store_say(p->why, p->why_size, "%s is damaged: it does not unpack", p->from);
        return r;
    }
    if (r)
        return say(p, r, "it cannot be unpacked");
    r = check_part(p);
    if (r)
        return r;
    r = turn_samples(p->part, cold_unpack);
    if (r)
        return say(p, r, "its samples cannot be unpacked");
    return check_part(p);
}

int store_unpack(const char *path, struct pack_result *ret, char *why, size_t why_size) {
    struct packing p = {
        .from = path, .in = -1, .out = -1, .copy = -1, .why = why, .why_size = why_size};
    struct stat st;
    if (stat(path, &st) < 0)
        return store_say(why, why_size, "no database at %s", path), negative_errno();
    if (!store_is_packed(path))
        return store_say(why, why_size, "%s is not a packed database", path), STORE_FOREIGN;
    if (!name_unpacked(&p))
        return say(&p, -ENAMETOOLONG, "it cannot be unpacked");
    int r = guard_links(path, why, why_size);
    if (r == 0)
        r = guard_owner(path, why, why_size);
    if (r == -ENOMEM)
        say(&p, r, "it cannot be unpacked");
    if (r == 0)
        r = open_both(&p);
    if (r == 0)
        r = unpack_and_check(&p);
    if (r == 0)
        r = note_sizes(&p, false, ret);
    if (r == 0)
        r = change_places(&p);
    close_both(&p);
    return r;
}
