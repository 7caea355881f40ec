/* SPDX-License-Identifier: MIT */
/* Connections to database files, with the limits of store_guard.h from their first statement on. */
#include "collector/store_guard.h"
#include "collector/store_mark.h"
#include "collector/store_private.h"
#include "collector/store_seal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Otherwise SQLite would take "file:x" for a URI and ":memory:" for no file at all. */
static char *plain_path(const char *path) {
    char *plain;
    if (path[0] == '/')
        return strdup(path);
    return asprintf(&plain, "./%s", path) < 0 ? NULL : plain;
}

static int connect_through(const char *vfs, const char *name, int flags, struct store **ret_store) {
    struct store *store = calloc(1, sizeof *store);
    int r, code = SQLITE_NOMEM;
    if (store)
        code = sqlite3_open_v2(name, &store->db, flags | SQLITE_OPEN_NOMUTEX, vfs);
    if (code != SQLITE_OK) {
        r = sql_errno(code);
        int reason = store ? sqlite3_system_errno(store->db) : 0;
        store_close(store);
        return r == -EACCES && reason > 0 ? -reason : r;
    }
    sqlite3_extended_result_codes(store->db, 1);
    r = guard_connection(store);
    if (!r)
        r = mark_pass(store);
    if (r) {
        store_close(store);
        return r;
    }
    *ret_store = store;
    return 0;
}

int connect_uri(const char *name, int flags, struct store **ret_store) {
    int r = seal_register();
    return r ? r : connect_through(SEAL_VFS, name, flags, ret_store);
}

int connect_unsealed(const char *path, struct store **ret_store) {
    char *plain = plain_path(path);
    int r = plain ? connect_through(NULL, plain, SQLITE_OPEN_READONLY, ret_store) : -ENOMEM;
    free(plain);
    return r;
}

int connect_file(const char *path, int flags, struct store **ret_store) {
    char *plain = plain_path(path);
    int r = plain ? connect_uri(plain, flags, ret_store) : -ENOMEM;
    free(plain);
    return r;
}

/* This fails, harmlessly, while others read: the last reader then folds in the rest. That reader
 * may know no seals, so all frames that can be are folded in now. */
static void fold_log(struct store *store) {
    sqlite3_busy_timeout(store->db, 0);
    int code = sqlite3_exec(store->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    if ((code & 0xff) == SQLITE_BUSY && store->has_frames)
        sqlite3_exec(store->db, "PRAGMA wal_checkpoint", NULL, NULL, NULL);
}

void store_close(struct store *store) {
    if (!store)
        return;
    streams_free(store);
    tables_free(store);
    block_work_free(store->blocks);
    for (size_t i = 0; i < STATEMENT_COUNT_; i++)
        sqlite3_finalize(store->statements[i]);
    if (store->db && store->writable && store_check_file(store) == 0)
        fold_log(store);
    sqlite3_close(store->db);
    identity_release(store);
    free(store);
}
