/* SPDX-License-Identifier: MIT */
/*
 * Removes a run. Rows are found by their parents: rows of tables by their frame, frames and clocks
 * by their stream, streams and instances by their host, hosts by their run. Children are deleted
 * before their parents.
 */
#include "collector/store_edit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "collector/store_private.h"
#include "common/error.h"

#define HOSTS_OF_RUN "SELECT host FROM host WHERE run = ?1"
#define STREAMS_OF_RUN "SELECT stream FROM stream WHERE host IN (" HOSTS_OF_RUN ")"
#define FRAMES_OF_RUN "SELECT frame FROM frame WHERE stream IN (" STREAMS_OF_RUN ")"

static const char *const removals[] = {
    "DELETE FROM counter_reset WHERE frame IN (" FRAMES_OF_RUN ")",
    "DELETE FROM joined WHERE stream IN (" STREAMS_OF_RUN ")",
    "DELETE FROM block WHERE stream IN (" STREAMS_OF_RUN ")",
    "DELETE FROM counter_state WHERE stream IN (" STREAMS_OF_RUN ")",
    "DELETE FROM clock_piece WHERE stream IN (" STREAMS_OF_RUN ")",
    "DELETE FROM frame WHERE stream IN (" STREAMS_OF_RUN ")",
    "DELETE FROM instance WHERE host IN (" HOSTS_OF_RUN ")",
    "DELETE FROM clock WHERE host IN (" HOSTS_OF_RUN ")",
    "DELETE FROM stream WHERE host IN (" HOSTS_OF_RUN ")",
    "DELETE FROM host WHERE run = ?1",
    "DELETE FROM sweep_value WHERE sweep IN (SELECT sweep FROM sweep_run WHERE run = ?1)"
    " AND sweep NOT IN (SELECT sweep FROM sweep_run WHERE run <> ?1)",
    "DELETE FROM sweep WHERE sweep IN (SELECT sweep FROM sweep_run WHERE run = ?1)"
    " AND sweep NOT IN (SELECT sweep FROM sweep_run WHERE run <> ?1)",
    "DELETE FROM sweep_run WHERE run = ?1",
    "DELETE FROM run_label WHERE run = ?1",
    "DELETE FROM run_repeat WHERE run = ?1",
    "DELETE FROM run_usage WHERE run = ?1",
    "DELETE FROM run_note WHERE run = ?1",
    "DELETE FROM run_comment WHERE run = ?1",
    "DELETE FROM run_verdict WHERE run = ?1",
    "DELETE FROM run_use WHERE run = ?1",
    "DELETE FROM refused WHERE run = ?1",
    "DELETE FROM budget WHERE run = ?1",
};

static int remove_by(struct store *store, const char *sql, int64_t run) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int r = sql_prepare(store, sql, &statement);
    if (r == 0)
        r = sql_bind(statement, "i", run);
    return r ? r : sql_errno(sqlite3_step(statement));
}

/* Removes rows of the probes' tables; the file lists these tables. */
static int remove_rows(struct store *store, int64_t run) {
    AUTO(sql_finalize) sqlite3_stmt *tables = NULL;
    int code = SQLITE_DONE;
    int r = sql_prepare(store,
                        "SELECT name FROM table_info WHERE name IN (SELECT name FROM sqlite_schema"
                        " WHERE type = 'table' AND rootpage > 0)",
                        &tables);
    while (r == 0 && (code = sqlite3_step(tables)) == SQLITE_ROW) {
        char name[TABLE_NAME_MAX + 1];
        sql_column_text(tables, 0, name, sizeof name);
        char *sql = sqlite3_mprintf("DELETE FROM \"%w\" WHERE frame IN (" FRAMES_OF_RUN ")", name);
        r = sql ? remove_by(store, sql, run) : -ENOMEM;
        sqlite3_free(sql);
    }
    return r ? r : sql_errno(code);
}

static int remove_all(struct store *store, int64_t run) {
    int r = remove_rows(store, run);
    for (size_t i = 0; r == 0 && i < ARRAY_SIZE(removals); i++)
        r = remove_by(store, removals[i], run);
    if (r == 0)
        r = remove_by(store, "DELETE FROM run WHERE run = ?1", run);
    if (r == 0 && sqlite3_changes(store->db) == 0)
        r = -ENOENT;
    return r;
}

int store_run_remove(struct store *store, int64_t run) {
    int r = store_begin(store);
    if (r)
        return r;
    r = remove_all(store, run);
    if (r == 0)
        r = store_commit(store);
    if (r)
        store_rollback(store);
    return r;
}

/* ---- free space ---- */

int store_free_bytes(struct store *store, int64_t *ret_bytes) {
    int64_t pages = 0, size = 0;
    int r = pragma_get(store, "PRAGMA freelist_count", &pages);
    if (r == 0)
        r = pragma_get(store, "PRAGMA page_size", &size);
    *ret_bytes = pages * size;
    return r;
}

/* Changing the journal needs the file alone; it fails at once if another process has it open. */
bool store_is_alone(struct store *store) {
    sqlite3_stmt *mode = NULL;
    char name[16] = "";
    sqlite3_busy_timeout(store->db, 0);
    if (sql_prepare(store, "PRAGMA journal_mode=DELETE", &mode) == 0 &&
        sqlite3_step(mode) == SQLITE_ROW)
        sql_column_text(mode, 0, name, sizeof name);
    sqlite3_finalize(mode);
    sqlite3_busy_timeout(store->db, STORE_WRITE_TIMEOUT_MS);
    return name[0] == 'd' && sql_exec(store, "PRAGMA journal_mode=WAL") == 0 &&
           store_check_file(store) == 0;
}

int store_compact(struct store *store) {
    return store_is_alone(store) ? store_vacuum(store) : -EBUSY;
}

/* Through a temporary database, which SQLite attaches (store_guard.c): the copy may be large and
 * does not have to fit into memory. */
int store_vacuum(struct store *store) {
    int r = sql_exec(store, "PRAGMA temp_store=FILE");
    if (r)
        return r;
    store->compacting = true;
    sqlite3_limit(store->db, SQLITE_LIMIT_ATTACHED, 1);
    r = sql_exec(store, "VACUUM");
    sqlite3_limit(store->db, SQLITE_LIMIT_ATTACHED, 0);
    store->compacting = false;
    return r;
}
