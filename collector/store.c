/* SPDX-License-Identifier: MIT */
/*
 * Opens and closes databases. A file is checked before anything in it is changed, so a foreign
 * database that was named by mistake stays as it was. While a writer has the file open, the
 * database is in WAL mode, so that readers and the writer do not wait for each other. The last
 * writer folds the log back into one plain file, which can be copied, and read from a read-only
 * place.
 */
#include "collector/store_guard.h"
#include "collector/store_pack.h"
#include "collector/store_packed.h"
#include "collector/store_private.h"
#include "collector/store_seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/error.h"

#define STORE_OTHER_TABLES                                                                         \
    "%s has other tables than chokepoint makes (%s): restore it, or name another file with --db"
#define READ_TIMEOUT_MS 2000
#define RETRY_MS 10
#define TEXT_MAX (1 << 20) /* bytes of one value; a hostile database may claim more */
#define STEPS_COUNTED 1000 /* instructions of SQLite's machine between two checks of the limit */
#ifdef CHOKEPOINT_FUZZ     /* the fuzzer tries millions of small files */
#define STEPS_LEAST 100000
#define STEPS_A_PAGE 10000
#else
#define STEPS_LEAST 100000000 /* about a second of work */
#define STEPS_A_PAGE 200000   /* an intact page takes a few thousand */
#endif
#define STEPS_A_BYTE 8 /* of text that is returned: six times what a file can hold */

#define CELLS_A_STEP 8 /* values of a block: a packed one takes a nanosecond */

/* Hosts that were recorded together share pages and are read one after the other. The cache holds
 * one table of a short recording of 100 hosts until the last host is read. */
#define READER_PRAGMAS "PRAGMA cell_size_check=ON; PRAGMA query_only=ON; PRAGMA cache_size=-65536"

int pragma_get(struct store *store, const char *sql, int64_t *ret_value) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int r = sql_prepare(store, sql, &statement);
    if (r)
        return r;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *ret_value = sqlite3_column_int64(statement, 0);
    return code == SQLITE_ROW ? 0 : code == SQLITE_DONE ? -EBADMSG : sql_errno(code);
}

enum identity { IDENTITY_OURS, IDENTITY_EMPTY, IDENTITY_OTHER_VERSION, IDENTITY_FOREIGN };

/* One stat only: another process may create the file between two. */
static int read_identity(struct store *store, int64_t *ret_application, int64_t *ret_version,
                         int64_t *ret_objects) {
    int r = sql_exec(store, "SAVEPOINT look");
    if (r)
        return r;
    r = pragma_get(store, "PRAGMA application_id", ret_application);
    if (!r)
        r = pragma_get(store, "PRAGMA user_version", ret_version);
    if (!r)
        r = pragma_get(store, "SELECT count(*) FROM sqlite_schema", ret_objects);
    return r ? r : sql_exec(store, "RELEASE look"); /* the handle has the text of the error */
}

static int identify(struct store *store, enum identity *ret_identity, int64_t *ret_version) {
    int64_t application = 0, version = 0, objects = 0;
    int r = read_identity(store, &application, &version, &objects);
    if (r)
        return r;
    *ret_version = version;
    if (application == STORE_APPLICATION_ID)
        *ret_identity = version == STORE_VERSION ? IDENTITY_OURS : IDENTITY_OTHER_VERSION;
    else
        *ret_identity = objects || application ? IDENTITY_FOREIGN : IDENTITY_EMPTY;
    return 0;
}

static int explain(struct store *store, int r, const char *path, char *why, size_t size) {
    if (r == -EBUSY)
        store_say(why, size, "%s is locked by another program: try again when it has finished",
                  path);
    else if (r == -EBADMSG && store && store_damaged_page(store))
        store_say(why, size, STORE_DAMAGED_PAGE, path, (long long)store_damaged_page(store));
    else if (r == -EBADMSG && store &&
             (store->why[0] || (sqlite3_errcode(store->db) & 0xff) == SQLITE_ERROR))
        store_say(why, size, STORE_OTHER_TABLES, path, store_error(store));
    else if (r == -EBADMSG)
        store_say(why, size, "%s is damaged: %s; restore it, or name another file with --db", path,
                  store ? sqlite3_errmsg(store->db) : "bad file");
    else if (r == -ELOOP)
        store_say(why, size, "%s is a link to a file that is not there: name that file", path);
    else if (r < 0)
        store_say(why, size, "%s cannot be opened: %s", path, strerror(-r));
    return r;
}

/* Checks the path before SQLite sees it. Returns 0 if the file is good; for -ENOENT a writer may
 * create it. */
static int check_path(const char *path, char *why, size_t size) {
    struct stat st;
    if (!path[0]) {
        store_say(why, size, "the name of the database is empty");
        return -EINVAL;
    }
    if (stat(path, &st) < 0)
        return negative_errno();
    if (S_ISDIR(st.st_mode)) {
        store_say(why, size, "%s is a directory, not a database", path);
        return -EISDIR;
    }
    if (!S_ISREG(st.st_mode)) {
        store_say(why, size, "%s is not a regular file", path);
        return -EINVAL;
    }
    return 0;
}

/* A file with triggers or the like, which would act by itself, is refused by every verb. */
static int check_guard(struct store *store, const char *path, char *why, size_t size) {
    char what[200];
    int r = guard_file(store, what, sizeof what);
    if (r != -EPERM)
        return explain(store, r, path, why, size);
    store_say(why, size, "%s %s, which chokepoint does not make: it is refused", path, what);
    return STORE_FOREIGN;
}

static int say_unmade(const char *path, char *why, size_t size) {
    store_say(why, size,
              "%s is empty: no run was begun in it; record one with `chokepoint run COMMAND`",
              path);
    return -ENODATA;
}

static int judge(struct store *store, enum identity identity, int64_t version, const char *path,
                 char *why, size_t size) {
    if (identity == IDENTITY_OTHER_VERSION) {
        store_say(
            why, size,
            "%s was written by schema version %lld, this chokepoint reads %d: use the chokepoint"
            " that recorded it, or name another file with --db",
            path, (long long)version, STORE_VERSION);
        return STORE_OTHER_VERSION;
    }
    if (identity == IDENTITY_EMPTY)
        return say_unmade(path, why, size);
    if (identity != IDENTITY_OURS) {
        store_say(why, size, "%s is not a Chokepoint database", path);
        return STORE_FOREIGN;
    }
    const char *missing;
    int r = fits_base(store, &missing);
    if (!missing)
        return r ? explain(store, r, path, why, size) : check_guard(store, path, why, size);
    char text[64];
    snprintf(text, sizeof text, "no such table: %s", missing);
    store_say(why, size, STORE_OTHER_TABLES, path, text);
    return r;
}

static int examine(struct store *store, const char *path, enum identity *ret_identity, char *why,
                   size_t size) {
    int64_t version = 0;
    int r = identify(store, ret_identity, &version);
    if (r == -EBADMSG && !store->writable && fits_is_unmade(path))
        return say_unmade(path, why, size);
    if (r == -EBADMSG && (sqlite3_errcode(store->db) & 0xff) == SQLITE_NOTADB) {
        store_say(why, size, "%s is not a Chokepoint database", path);
        return STORE_FOREIGN;
    }
    if (r)
        return explain(store, r, path, why, size);
    if (*ret_identity == IDENTITY_EMPTY && store->writable)
        return 0;
    return judge(store, *ret_identity, version, path, why, size);
}

/* Two processes may create the same file: the second one to get the lock finds it made. */
static int create_schema(struct store *store) {
    enum identity identity;
    int64_t version;
    int r = sql_exec(store, "BEGIN IMMEDIATE");
    if (r)
        return r;
    r = identify(store, &identity, &version);
    if (!r && identity == IDENTITY_EMPTY) {
        char pragmas[96];
        snprintf(pragmas, sizeof pragmas, "PRAGMA application_id=%d; PRAGMA user_version=%d",
                 STORE_APPLICATION_ID, STORE_VERSION);
        r = sql_exec(store, store_schema);
        if (!r)
            r = sql_exec(store, pragmas);
    }
    if (!r)
        r = sql_exec(store, "COMMIT");
    if (r)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return r;
}

/* FULL: the log is synced with every commit, so that an agent may drop acknowledged frames. A cache
 * of 16 MiB holds the last pages of all tables; at 16 MiB the log is folded in, too. */
static int prepare_writer(struct store *store) {
    return sql_exec(store, "PRAGMA journal_mode=WAL;"
                           "PRAGMA synchronous=FULL;"
                           "PRAGMA secure_delete=OFF;"
                           "PRAGMA cache_size=-16384;"
                           "PRAGMA wal_autocheckpoint=4000;"
                           "PRAGMA temp_store=MEMORY");
}

/* A change of the journal mode needs the file alone for a moment, and SQLite does not wait for
 * that. */
static int prepare_writer_in_time(struct store *store) {
    const struct timespec pause = {.tv_nsec = RETRY_MS * NS_PER_MS};
    int64_t deadline_ns = clock_monotonic_ns() + STORE_WRITE_TIMEOUT_MS * NS_PER_MS;
    int r;
    while ((r = prepare_writer(store)) == -EBUSY && clock_monotonic_ns() < deadline_ns)
        nanosleep(&pause, NULL);
    return r;
}

static int shape_pages(struct store *store) {
    int seal_bytes = SEAL_BYTES;
    int r = sql_exec(store, "PRAGMA page_size=4096; PRAGMA auto_vacuum=NONE");
    return r ? r
             : sql_errno(sqlite3_file_control(store->db, "main", SQLITE_FCNTL_RESERVE_BYTES,
                                              &seal_bytes));
}

/* In a damaged tree pages may refer to each other in a circle, and SQLite would walk it without
 * end. So the size of the file limits the work of reading it. */
static int count_steps(void *ctx) {
    struct store *store = ctx;
    store->steps_left -= STEPS_COUNTED;
    return store->steps_left < 0;
}

int store_count_text(struct store *store, size_t size) {
    if (store->writable)
        return 0;
    store->steps_left -= (int64_t)size * STEPS_A_BYTE;
    return store->steps_left < 0 ? -EBADMSG : 0;
}

int store_count_cells(struct store *store, size_t n) {
    if (store->writable)
        return 0;
    store->steps_left -= (int64_t)(n / CELLS_A_STEP);
    return store->steps_left < 0 ? -EBADMSG : 0;
}

static void bound_work(struct store *store) {
    store->steps_left = STEPS_LEAST;
    sqlite3_progress_handler(store->db, STEPS_COUNTED, count_steps, store);
}

static int open_writer(struct store *store, const char *path, char *why, size_t size) {
    enum identity identity;
    store->writable = true;
    sqlite3_busy_timeout(store->db, STORE_WRITE_TIMEOUT_MS);
    bound_work(store);
    int r = examine(store, path, &identity, why, size);
    sqlite3_progress_handler(store->db, 0, NULL, NULL);
    if (r)
        return r;
    if (identity == IDENTITY_EMPTY)
        r = shape_pages(store);
    if (!r)
        r = prepare_writer_in_time(store);
    if (!r && identity == IDENTITY_EMPTY)
        r = create_schema(store);
    if (!r)
        r = sql_exec(store,
                     STORE_PIECE_SCHEMA STORE_JOINED_SCHEMA STORE_BLOCK_SCHEMA STORE_REPEAT_SCHEMA
                         STORE_USAGE_SCHEMA STORE_BUDGET_SCHEMA STORE_SWEEP_SCHEMA
                             STORE_COMMENT_SCHEMA STORE_CEILING_SCHEMA STORE_VERDICT_SCHEMA);
    if (!r) /* before all other changes: a run may end without another push */
        r = sql_run(store, SQL_TOUCH_FIRST_PAGE, "");
    if (!r)
        r = fits_all(store);
    return explain(store, r, path, why, size);
}

/* Removes the empty file of a database that could not be made. -EBUSY: another process is making
 * it. */
static void remove_unmade(const char *path, int error) {
    struct stat st;
    if (error != -EBUSY && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
        unlink(path);
}

/* A recording shows what a user ran, so nobody else may read it, whatever the umask. SQLite gives
 * its journals the mode of the file; an existing file keeps its own. A dangling link is not
 * followed: an attacker may have just created it. */
static int create_private(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return negative_errno();
    close(fd);
    return 0;
}

static int say_packed(const char *path, char *why, size_t size) {
    store_say(why, size, "%s is packed: `chokepoint unpack` it first, or name another file", path);
    return STORE_FOREIGN;
}

int store_open_write(const char *path, struct store **ret_store, char *why, size_t why_size) {
    struct store *store = NULL;
    char packed[PATH_MAX];
    int r = guard_links(path, why, why_size);
    if (r)
        return r;
    r = check_path(path, why, why_size);
    bool is_new = r == -ENOENT;
    if (r < 0 && !is_new)
        return r == -EISDIR || r == -EINVAL ? r : explain(NULL, r, path, why, why_size);
    if (is_new && store_find_packed(path, packed)) /* a new file would hide the runs of that one */
        return say_packed(packed, why, why_size);
    r = is_new ? create_private(path) : guard_owner(path, why, why_size);
    if (!r && !is_new && fits_is_unmade(path))
        r = fits_begin_again(path);
    if (!r || r == -EBUSY) /* another process is making it; SQLite waits for that */
        r = connect_file(path, SQLITE_OPEN_READWRITE, &store);
    if (r)
        return r == -EPERM && !is_new ? r : explain(NULL, r, path, why, why_size);
    r = open_writer(store, path, why, why_size);
    if (!r && (r = identity_keep(store, path)))
        explain(NULL, r, path, why, why_size);
    if (r)
        store_close(store);
    if (r && store_is_packed(path)) /* asked last: see fits_is_unmade() */
        return say_packed(path, why, why_size);
    if (r && is_new)
        remove_unmade(path, r);
    if (!r)
        *ret_store = store;
    return r;
}

static int not_there(const char *path, bool another, char *why, size_t size) {
    if (another)
        store_say(why, size, "another file is in the place of %s, which was moved or removed",
                  path);
    else
        store_say(why, size, "%s was moved or removed", path);
    return -ESTALE;
}

int store_open_again(const char *path, const struct store_file *file, struct store **ret_store,
                     char *why, size_t why_size) {
    struct stat st;
    if (stat(path, &st) < 0)
        return not_there(path, false, why, why_size);
    if ((uint64_t)st.st_dev != file->device || (uint64_t)st.st_ino != file->inode)
        return not_there(path, true, why, why_size);
    int r = store_open_write(path, ret_store, why, why_size);
    if (r)
        return r;
    struct store_file now = (*ret_store)->file;
    if (now.device == file->device && now.inode == file->inode)
        return 0;
    store_close(*ret_store);
    return not_there(path, true, why, why_size);
}

static int bound_work_by_size(struct store *store) {
    int64_t pages = 0;
    int r = pragma_get(store, "PRAGMA page_count", &pages);
    store->steps_left += pages * STEPS_A_PAGE; /* SQLite allows fewer than 2^32 */
    return r;
}

int store_renew_bound(struct store *store) {
    store->steps_left = STEPS_LEAST;
    return bound_work_by_size(store);
}

static int prepare_reader(struct store *store, const char *path, char *why, size_t why_size) {
    enum identity identity;
    sqlite3_busy_timeout(store->db, READ_TIMEOUT_MS);
    sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, TEXT_MAX);
    sqlite3_exec(store->db, READER_PRAGMAS, NULL, NULL, NULL);
    bound_work(store);
    int r = examine(store, path, &identity, why, why_size);
    return r ? r : explain(store, bound_work_by_size(store), path, why, why_size);
}

static int connect_reader(const char *path, struct store **ret_store) {
    return connect_file(path, SQLITE_OPEN_READONLY, ret_store);
}

static int open_reader(const char *path, int (*connect)(const char *path, struct store **ret_store),
                       struct store **ret_store, char *why, size_t why_size) {
    struct store *store = NULL;
    int r = connect(path, &store);
    if (r == -EBADMSG && connect == packed_connect) {
        store_say(why, why_size, "%s is damaged: it does not unpack", path);
        return r;
    }
    if (r)
        return explain(NULL, r, path, why, why_size);
    r = prepare_reader(store, path, why, why_size);
    if (r)
        store_close(store);
    else
        *ret_store = store;
    return r;
}

int store_open_read(const char *path, struct store **ret_store, char *why, size_t why_size) {
    char packed[PATH_MAX];
    int r = check_path(path, why, why_size);
    if (r == -ENOENT && store_find_packed(path, packed))
        return open_reader(packed, packed_connect, ret_store, why, why_size);
    if (r == -ENOENT)
        store_say(why, why_size, "no database at %s: record one with `chokepoint run COMMAND`",
                  path);
    if (r < 0)
        return r == -ENOENT || r == -EISDIR || r == -EINVAL ? r
                                                            : explain(NULL, r, path, why, why_size);
    /* A plain file is not looked into beside SQLite: to close it would drop the locks of other
     * connections of this process, whose log the next process to close would then remove. */
    r = open_reader(path, connect_reader, ret_store, why, why_size);
    if (r == STORE_FOREIGN && store_is_packed(path))
        return open_reader(path, packed_connect, ret_store, why, why_size);
    if (r == -EROFS || r == -EACCES) /* a journal or log that a reader may not fold in */
        r = open_reader(path, heal_connect, ret_store, why, why_size);
    return r;
}
