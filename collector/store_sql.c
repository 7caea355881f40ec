/* SPDX-License-Identifier: MIT */
/* The schema, every statement of fixed text, and the wrappers through which SQLite is called. */
#include "collector/store_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"

#define FIRST_S                                                                                    \
    "min(s.first_mono_ns + " CLOCK_OFFSET_SQL(                                                     \
        "s.first_mono_ns") " - r.started_mono_ns) / 1e9 AS first_s"
#define LAST_S                                                                                     \
    "max(s.last_mono_ns + " CLOCK_OFFSET_SQL(                                                      \
        "s.last_mono_ns") " - r.started_mono_ns) / 1e9 AS last_s"

/* Columns that people read by hand are texts (state, unit, kind). Tables of sample rows are WITHOUT
 * ROWID, with the key they are found by: nothing is stored twice. */
const char store_schema[] =
    "CREATE TABLE run(run INTEGER PRIMARY KEY, name TEXT NOT NULL, command TEXT NOT NULL,"
    " state TEXT NOT NULL, exit_status INTEGER, started_wall_ns INTEGER NOT NULL,"
    " started_mono_ns INTEGER NOT NULL, ended_wall_ns INTEGER, ended_mono_ns INTEGER,"
    " period_ns INTEGER NOT NULL, hosts_expected INTEGER NOT NULL, version TEXT NOT NULL) STRICT;"
    "CREATE TABLE run_note(run INTEGER NOT NULL, n INTEGER NOT NULL, text TEXT NOT NULL,"
    " PRIMARY KEY(run, n)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE refused(run INTEGER NOT NULL, kind TEXT NOT NULL, n INTEGER NOT NULL,"
    " PRIMARY KEY(run, kind)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE host(host INTEGER PRIMARY KEY, run INTEGER NOT NULL, name TEXT NOT NULL,"
    " UNIQUE(run, name)) STRICT;"
    "CREATE TABLE stream(stream INTEGER PRIMARY KEY, host INTEGER NOT NULL,"
    " boot_id TEXT NOT NULL, stream_id INTEGER NOT NULL, period_ns INTEGER NOT NULL,"
    " clock_offset_ns INTEGER, clock_error_ns INTEGER, first_mono_ns INTEGER,"
    " last_mono_ns INTEGER, last_seq INTEGER NOT NULL DEFAULT 0,"
    " head_missed INTEGER NOT NULL DEFAULT 0, head_lost INTEGER NOT NULL DEFAULT 0,"
    " frames INTEGER NOT NULL DEFAULT 0, missed_slots INTEGER NOT NULL DEFAULT 0,"
    " lost_frames INTEGER NOT NULL DEFAULT 0, gaps INTEGER NOT NULL DEFAULT 0,"
    " restarts INTEGER NOT NULL DEFAULT 0, duplicates INTEGER NOT NULL DEFAULT 0,"
    " dropped_rows INTEGER NOT NULL DEFAULT 0, UNIQUE(host, boot_id, stream_id)) STRICT;"
    "CREATE TABLE frame(frame INTEGER PRIMARY KEY, stream INTEGER NOT NULL, seq INTEGER NOT NULL,"
    " mono_ns INTEGER NOT NULL, wall_ns INTEGER NOT NULL, late_ns INTEGER NOT NULL,"
    " missed INTEGER NOT NULL, lost INTEGER NOT NULL) STRICT;"
    "CREATE INDEX frame_of_stream ON frame(stream);"
    "CREATE TABLE table_info(table_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " instance TEXT NOT NULL, kind TEXT NOT NULL, help TEXT NOT NULL) STRICT;"
    "CREATE TABLE column_info(table_id INTEGER NOT NULL, ordinal INTEGER NOT NULL,"
    " name TEXT NOT NULL, unit TEXT NOT NULL, kind TEXT NOT NULL, help TEXT NOT NULL,"
    " PRIMARY KEY(table_id, ordinal)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE instance(instance INTEGER PRIMARY KEY, host INTEGER NOT NULL,"
    " table_id INTEGER NOT NULL, name TEXT NOT NULL, UNIQUE(host, table_id, name)) STRICT;"
    "CREATE TABLE clock(host INTEGER NOT NULL, mono_ns INTEGER NOT NULL,"
    " offset_ns INTEGER NOT NULL, error_ns INTEGER NOT NULL, PRIMARY KEY(host, mono_ns))"
    " STRICT, WITHOUT ROWID;"
    "CREATE TABLE counter_reset(frame INTEGER NOT NULL, instance INTEGER NOT NULL,"
    " columns INTEGER NOT NULL, PRIMARY KEY(frame, instance)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE counter_state(stream INTEGER NOT NULL, table_id INTEGER NOT NULL,"
    " state BLOB NOT NULL, PRIMARY KEY(stream, table_id)) STRICT, WITHOUT ROWID;" STORE_PIECE_SCHEMA
        STORE_JOINED_SCHEMA STORE_BLOCK_SCHEMA STORE_CEILING_SCHEMA STORE_REPEAT_SCHEMA
            STORE_USAGE_SCHEMA STORE_BUDGET_SCHEMA STORE_SWEEP_SCHEMA STORE_COMMENT_SCHEMA
                STORE_VERDICT_SCHEMA
    "CREATE VIEW run_host AS SELECT r.run AS run, r.name AS run_name, h.host AS host_id,"
    " h.name AS host, " FIRST_S ", " LAST_S ","
    " sum(s.frames) AS samples, sum(s.missed_slots) AS missed, sum(s.lost_frames) AS lost,"
    " sum(s.duplicates) AS duplicates, sum(s.gaps) AS gaps, sum(s.restarts) AS restarts,"
    " max(s.clock_error_ns) / 1e6 AS clock_error_ms, (SELECT x.clock_offset_ns FROM stream x"
    " WHERE x.host = h.host AND x.period_ns <> 0 ORDER BY x.stream DESC LIMIT 1) - "
    "r.started_mono_ns AS mono_to_run_ns"
    " FROM run r JOIN host h USING(run) JOIN stream s ON s.host = h.host AND s.period_ns <> 0"
    " GROUP BY h.host;";

#define STRINGIFY(value) STRINGIFY_(value)
#define STRINGIFY_(value) #value

static const char *const texts[STATEMENT_COUNT_] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    /* If another program folds in the store's log after a crash, the change counter in the first
     * page shows it (store_seal.h). */
    [SQL_TOUCH_FIRST_PAGE] = "PRAGMA user_version=" STRINGIFY(STORE_VERSION),
    [SQL_COMMIT] = "COMMIT",
    [SQL_RUN_INSERT] =
        "INSERT INTO run(name, command, state, started_wall_ns, started_mono_ns, period_ns,"
        " hosts_expected, version) VALUES(?, ?, 'running', ?, ?, ?, ?, ?)",
    [SQL_RUN_STARTED] = "UPDATE run SET started_wall_ns = ?, started_mono_ns = ? WHERE run = ?",
    [SQL_RUN_END] = "UPDATE run SET state = ?, exit_status = ?, ended_wall_ns = ?,"
                    " ended_mono_ns = ? WHERE run = ?",
    [SQL_RUN_EXISTS] = "SELECT run FROM run WHERE run = ?",
    [SQL_NOTE_INSERT] = "INSERT INTO run_note SELECT ?1, coalesce(max(n), 0) + 1, ?2 FROM run_note"
                        " WHERE run = ?1",
    [SQL_NOTE_RUN] = "SELECT max(run) FROM run_note WHERE text = ?",
    [SQL_REFUSED_ADD] = "INSERT INTO refused VALUES(?, ?, ?)"
                        " ON CONFLICT DO UPDATE SET n = n + excluded.n",
    [SQL_HOST_FIND] = "SELECT host FROM host WHERE run = ? AND name = ?",
    [SQL_HOST_INSERT] = "INSERT INTO host(run, name) VALUES(?, ?)",
    [SQL_STREAM_FIND] = "SELECT stream FROM stream WHERE host = ? AND boot_id = ?"
                        " AND stream_id = ?",
    [SQL_STREAM_RUN] = "SELECT max(h.run) FROM stream s JOIN host h USING(host)"
                       " WHERE s.boot_id = ? AND s.stream_id = ? AND h.name = ?",
    [SQL_STREAM_COUNT] = "SELECT count(*) FROM stream WHERE host = ?",
    /* A further stream of the same boot inherits what is known of the clock. */
    [SQL_STREAM_INSERT] =
        "INSERT INTO stream(host, boot_id, stream_id, period_ns, clock_offset_ns, clock_error_ns)"
        " SELECT ?1, ?2, ?3, ?4, max(clock_offset_ns), min(clock_error_ns) FROM (SELECT"
        " clock_offset_ns, clock_error_ns FROM stream WHERE host = ?1 AND boot_id = ?2 AND"
        " clock_error_ns IS NOT NULL ORDER BY clock_error_ns LIMIT 1)",
    [SQL_STREAM_LOAD] =
        "SELECT s.host, h.run, s.stream_id, s.period_ns, s.last_seq, s.last_mono_ns,"
        " s.first_mono_ns, s.head_missed, s.head_lost, s.frames, s.missed_slots, s.lost_frames,"
        " s.gaps, s.restarts, s.duplicates, s.dropped_rows, r.started_mono_ns - r.started_wall_ns,"
        " h.name, s.boot_id, CASE WHEN s.period_ns <> 0 THEN s.stream ELSE coalesce((SELECT"
        " max(x.stream) FROM stream x WHERE x.host = s.host AND x.boot_id = s.boot_id AND"
        " x.period_ns <> 0), s.stream) END FROM stream s JOIN host h USING(host)"
        " JOIN run r USING(run) WHERE s.stream = ?",
    [SQL_STREAM_UPDATE] =
        "UPDATE stream SET last_seq = ?2, last_mono_ns = ?3, first_mono_ns = ?4,"
        " head_missed = ?5, head_lost = ?6, frames = ?7, missed_slots = ?8, lost_frames = ?9,"
        " gaps = ?10, restarts = ?11, duplicates = ?12, dropped_rows = ?13,"
        " clock_offset_ns = coalesce(clock_offset_ns, ?14) WHERE stream = ?1",
    [SQL_STREAM_CLOCK] =
        "UPDATE stream SET clock_offset_ns = ?2, clock_error_ns ="
        " (SELECT max(error_ns) FROM clock_piece WHERE stream = ?1) WHERE stream = ?1",
    [SQL_CLOCK_INSERT] = "INSERT OR REPLACE INTO clock VALUES(?, ?, ?, ?)",
    /* An exchange may precede the first frame. */
    [SQL_CLOCK_LIST] =
        "SELECT mono_ns, offset_ns, error_ns FROM clock WHERE host = ?1 AND mono_ns <= ?2 AND"
        " mono_ns >= max(?3, coalesce((SELECT min(first_mono_ns) - 10000000000 FROM stream"
        " WHERE host = ?1 AND boot_id = ?4), 0)) ORDER BY mono_ns DESC",
    [SQL_PIECE_BEFORE] =
        "SELECT from_ns, until_ns, at_ns, offset_ns, error_ns, drift_ppm FROM clock_piece"
        " WHERE stream = ? AND from_ns < ? ORDER BY from_ns DESC LIMIT 1",
    [SQL_PIECES_DELETE] = "DELETE FROM clock_piece WHERE stream = ? AND from_ns >= ?",
    [SQL_PIECE_INSERT] = "INSERT OR REPLACE INTO clock_piece(stream, from_ns, until_ns, at_ns,"
                         " offset_ns, error_ns, drift_ppm) VALUES(?, ?, ?, ?, ?, ?, ?)",
    [SQL_FRAME_INSERT] = "INSERT INTO frame VALUES(NULL, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_INSTANCE_FIND] = "SELECT instance FROM instance WHERE host = ? AND table_id = ?"
                          " AND name = ?",
    [SQL_INSTANCE_INSERT] = "INSERT INTO instance(host, table_id, name) VALUES(?, ?, ?)",
    [SQL_INSTANCE_NAME] = "SELECT name FROM instance WHERE instance = ? AND host = ?",
    [SQL_RESET_INSERT] = "INSERT OR REPLACE INTO counter_reset VALUES(?, ?, ?)",
    [SQL_STATE_LOAD] =
        "SELECT table_id, state FROM counter_state WHERE stream = ? ORDER BY table_id",
    [SQL_STATE_SAVE] = "INSERT OR REPLACE INTO counter_state VALUES(?, ?, ?)",
    [SQL_STATE_FORGET] = "DELETE FROM counter_state WHERE stream = ? AND table_id <> ?",
    [SQL_JOINED_INSERT] = "INSERT INTO joined(stream, rows) VALUES(?, ?)",
    [SQL_JOINED_EXISTS] = "SELECT joined FROM joined WHERE stream = ? LIMIT 1",
    [SQL_BLOCK_INSERT] = "INSERT INTO block(stream, table_id, from_frame, until_frame, from_ns, "
                         "until_ns, n, columns)"
                         " VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_TABLE_FIND] = "SELECT table_id, name, instance, kind FROM table_info WHERE name = ?",
    [SQL_TABLE_INSERT] = "INSERT INTO table_info(name, instance, kind, help) VALUES(?, ?, ?, ?)",
    [SQL_TABLE_COUNT] = "SELECT count(*) FROM table_info",
    [SQL_COLUMN_LIST] = "SELECT name, unit, kind FROM column_info WHERE table_id = ?"
                        " ORDER BY ordinal",
    [SQL_COLUMN_INSERT] = "INSERT INTO column_info VALUES(?, ?, ?, ?, ?, ?)",
    [SQL_CEILING_INSERT] = "INSERT INTO ceiling(host, peer, metric, unit, value, low, high,"
                           " measured_wall_ns, how) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_USAGE_INSERT] =
        "INSERT INTO run_usage(run, host, user_ns, system_ns, read_bytes, write_bytes,"
        " peak_rss_bytes) VALUES(?, ?, ?, ?, ?, ?, ?)",
    [SQL_REPEAT_INSERT] =
        "INSERT INTO run_repeat(run, group_run, repeat, repeats) VALUES(?, ?, ?, ?)",
    [SQL_SWEEP_RUN_INSERT] = "INSERT INTO sweep_run(run, sweep) VALUES(?, ?)",
    [SQL_LABEL_INSERT] = "INSERT INTO run_label(run, name, value) VALUES(?, ?, ?)",
    [SQL_BUDGET_COLUMN] = "SELECT count(*) FROM pragma_table_info('budget') WHERE name = ?",
    [SQL_BUDGET_DELETE] = "DELETE FROM budget WHERE run = ?",
    [SQL_BUDGET_INSERT] =
        "INSERT INTO budget(run, n, host, rank, pid, process, phase, iteration, every, begin_ns,"
        " end_ns, wall_ns, unknown_ns, other_threads_cpu_ns, closure_pct, trusted, source,"
        " awaited_host, awaited_rank, awaited_ns, path_limited_pct, receiver_limited_pct,"
        " send_buffer_limited_pct, cpu_ns, runqueue_ns, quota_ns, steal_ns, disk_ns, memory_ns,"
        " gpu_ns, gpu_copy_ns, stopped_ns, idle_ns, peer_wait_ns, transfer_ns, file_ns, "
        "mpi_overhead_ns, mpi_unsplit_ns)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?, ?, ?, ?, ?, ?, ?, ?,"
        " ?, ?, ?)",
    [SQL_OBJECT_EXISTS] = "SELECT 1 FROM sqlite_schema WHERE name = ?",
};

int sql_errno(int code) {
    if (code == SQLITE_IOERR_DATA) /* a page with a wrong seal */
        return -EBADMSG;
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return 0;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_READONLY:
        return -EROFS;
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
        return -EACCES;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_MISMATCH:
    case SQLITE_ERROR:
    case SQLITE_INTERRUPT: /* a reader's limit of work: store.c */
        return -EBADMSG;
    case SQLITE_TOOBIG:
        return -E2BIG;
    case SQLITE_CONSTRAINT:
        return -EEXIST;
    default:
        return -EIO;
    }
}

int sql_prepare(struct store *store, const char *sql, sqlite3_stmt **ret_statement) {
    return sql_errno(
        sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret_statement, NULL));
}

int sql_prepare_made(struct store *store, char *sql, sqlite3_stmt **ret_statement) {
    int r = sql ? sql_prepare(store, sql, ret_statement) : -ENOMEM;
    sqlite3_free(sql);
    return r;
}

sqlite3_stmt *sql_statement(struct store *store, enum statement id, int *ret_error) {
    store->why[0] = '\0';
    if (!store->statements[id])
        *ret_error = sql_prepare(store, texts[id], &store->statements[id]);
    return store->statements[id];
}

/* store_budget.c adds the columns that budget lacks */
int sql_prepare_all(struct store *store) {
    int r = 0;
    for (size_t id = 0; id < STATEMENT_COUNT_ && !r; id++)
        if (id != SQL_BUDGET_INSERT)
            sql_statement(store, (enum statement)id, &r);
    return r;
}

int sql_exec(struct store *store, const char *sql) {
    store->why[0] = '\0';
    return sql_errno(sqlite3_exec(store->db, sql, NULL, NULL, NULL));
}

void sql_undo(struct store *store, const char *rollback) {
    snprintf(store->why, sizeof store->why, "%s", sqlite3_errmsg(store->db));
    sqlite3_exec(store->db, rollback, NULL, NULL, NULL);
}

int sql_reset(sqlite3_stmt *statement) {
    return sql_errno(sqlite3_reset(statement));
}

void sql_finalize(sqlite3_stmt **statement) {
    sqlite3_finalize(*statement);
}

static int bind_list(sqlite3_stmt *statement, const char *format, va_list values) {
    int code = SQLITE_OK;
    for (int i = 0; format[i] && code == SQLITE_OK; i++) {
        if (format[i] == 'i') {
            int64_t value = va_arg(values, int64_t);
            code = value == VALUE_ABSENT ? sqlite3_bind_null(statement, i + 1)
                                         : sqlite3_bind_int64(statement, i + 1, value);
        } else if (format[i] == 'd') {
            code = sqlite3_bind_double(statement, i + 1, va_arg(values, double));
        } else {
            code = sqlite3_bind_text(statement, i + 1, va_arg(values, const char *), -1,
                                     SQLITE_TRANSIENT);
        }
    }
    return sql_errno(code);
}

int sql_bind(sqlite3_stmt *statement, const char *format, ...) {
    va_list values;
    va_start(values, format);
    int r = bind_list(statement, format, values);
    va_end(values);
    return r;
}

int sql_run(struct store *store, enum statement id, const char *format, ...) {
    int r = 0;
    sqlite3_stmt *statement = sql_statement(store, id, &r);
    if (!statement)
        return r;
    va_list values;
    va_start(values, format);
    r = bind_list(statement, format, values);
    va_end(values);
    if (!r)
        r = sql_errno(sqlite3_step(statement));
    sqlite3_reset(statement);
    return r;
}

int sql_get(struct store *store, enum statement id, int64_t *ret_value, const char *format, ...) {
    int r = 0;
    sqlite3_stmt *statement = sql_statement(store, id, &r);
    if (!statement)
        return r;
    va_list values;
    va_start(values, format);
    r = bind_list(statement, format, values);
    va_end(values);
    if (!r) {
        int code = sqlite3_step(statement);
        r = sql_errno(code);
        if (code == SQLITE_ROW && sqlite3_column_type(statement, 0) == SQLITE_INTEGER) {
            *ret_value = sqlite3_column_int64(statement, 0);
            r = 1;
        }
    }
    sqlite3_reset(statement);
    return r;
}

int64_t sql_column(sqlite3_stmt *statement, int column) {
    return sqlite3_column_type(statement, column) == SQLITE_INTEGER
               ? sqlite3_column_int64(statement, column)
               : VALUE_ABSENT;
}

bool sql_column_text(sqlite3_stmt *statement, int column, char *to, size_t size) {
    to[0] = '\0';
    if (sqlite3_column_type(statement, column) != SQLITE_TEXT)
        return true;
    const char *text = (const char *)sqlite3_column_text(statement, column);
    if (text)
        text_sanitize(to, size, text, (size_t)sqlite3_column_bytes(statement, column));
    return text;
}

char *sql_column_dup(sqlite3_stmt *statement, int column, size_t max) {
    size_t size = sqlite3_column_type(statement, column) == SQLITE_TEXT
                      ? (size_t)sqlite3_column_bytes(statement, column)
                      : 0;
    size = size < max ? size : max;
    char *copy = malloc(size + 1);
    if (copy && !sql_column_text(statement, column, copy, size + 1)) {
        free(copy);
        copy = NULL;
    }
    return copy;
}

int sql_has_table(struct store *store, const char *name, bool *ret_has) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int r = sql_prepare(store,
                        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
                        " AND name = ?",
                        &statement);
    if (!r)
        r = sql_bind(statement, "t", name);
    int code = r ? SQLITE_DONE : sqlite3_step(statement);
    *ret_has = code == SQLITE_ROW;
    return r ? r : sql_errno(code);
}

int sql_has_column(const struct store *store, const char *table, const char *name) {
    if (!table_name_valid(name, strlen(name)))
        return 0;
    int code =
        sqlite3_table_column_metadata(store->db, "main", table, name, NULL, NULL, NULL, NULL, NULL);
    return code == SQLITE_OK ? 1 : (code & 0xff) == SQLITE_ERROR ? 0 : sql_errno(code);
}
