/* SPDX-License-Identifier: MIT */
/*
 * SQLite reads a schema with faults if PRAGMA writable_schema is on; the connection stays
 * defensive, so that no statement can write to the schema but those here.
 */
#include "collector/store_mark.h"

#include <stdio.h>
#include <string.h>

#include "collector/store_guard.h"
#include "collector/store_private.h"
#include "common/error.h"

#define REFUSAL "malformed database schema (" MARK_NAME ")"

/* Runs statements that the guard of the connection refuses. */
static int exec_unguarded(struct store *store, const char *sql) {
    sqlite3_set_authorizer(store->db, NULL, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 0, (int *)NULL);
    int r = sql_exec(store, sql);
    int error = guard_connection(store);
    return r ? r : error;
}

/* Whether the schema has no fault, or the first one is the mark. */
static bool is_good_or_marked(struct store *store) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, "SELECT 1 FROM sqlite_schema", -1, &statement, NULL);
    return code == SQLITE_OK || ((code & 0xff) == SQLITE_CORRUPT &&
                                 strncmp(sqlite3_errmsg(store->db), REFUSAL, strlen(REFUSAL)) == 0);
}

int mark_pass(struct store *store) {
    return is_good_or_marked(store) ? exec_unguarded(store, "PRAGMA writable_schema=ON") : 0;
}

static int has_mark(struct store *store, bool *ret_has) {
    int64_t n = 0;
    int r =
        pragma_get(store, "SELECT count(*) FROM sqlite_schema WHERE name = '" MARK_NAME "'", &n);
    *ret_has = n > 0;
    return r;
}

/* Other connections, and this one, read the schema anew. */
static int change_schema(struct store *store, const char *sql) {
    char text[64];
    int64_t version = 0;
    int r = exec_unguarded(store, "PRAGMA writable_schema=ON");
    if (!r)
        r = exec_unguarded(store, sql);
    if (!r)
        r = pragma_get(store, "PRAGMA schema_version", &version);
    snprintf(text, sizeof text, "PRAGMA schema_version=%lld", (long long)(version + 1));
    return r ? r : exec_unguarded(store, text);
}

int mark_set(struct store *store) {
    bool has = false;
    int r = has_mark(store, &has);
    return r || has ? r
                    : change_schema(store,
                                    "INSERT INTO sqlite_schema(type, name, tbl_name, rootpage, sql)"
                                    " VALUES('table', '" MARK_NAME "', '" MARK_NAME
                                    "', 0, '" MARK_SQL "')");
}

int mark_remove(struct store *store) {
    bool has = false;
    int r = has_mark(store, &has);
    return r || !has
               ? r
               : change_schema(store, "DELETE FROM sqlite_schema WHERE name = '" MARK_NAME "'");
}
