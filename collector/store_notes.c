/* SPDX-License-Identifier: MIT */
/*
 * Notes for a reader of a run: notes on the run, notes of agents (their table `note`), counters
 * that stepped back, refused rows and pushes. Each query gives whole lines, and with some the level
 * of each or the process that it may be about.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_private.h"
#include "collector/store_read.h"
#include "common/error.h"
#include "tables/keys.h"

#define NOTE_MAX_BYTES 4096
#define NOTES_MAX 1000
#define LEVEL_INFORMATION 1 /* of the table `note` */

static const char *const queries[] = {
    "SELECT text FROM run_note WHERE run = ? ORDER BY n",
    "SELECT h.name || ': ' || sum(s.dropped_rows) || CASE sum(s.dropped_rows) WHEN 1 THEN ' row' "
    "ELSE ' rows' END || ' could not be stored' FROM host h JOIN "
    "stream s"
    " USING(host) WHERE h.run = ? AND s.dropped_rows > 0 GROUP BY h.host ORDER BY h.name",
    "SELECT h.name || ': a counter of ' || t.name || ' ' || i.name || ' started again from zero'"
    " || CASE count(*) WHEN 1 THEN '' ELSE ', ' || count(*) || ' times' END, i.name FROM host h "
    "JOIN instance i ON i.host = h.host JOIN table_info t"
    " USING(table_id) JOIN counter_reset c ON c.instance = i.instance WHERE h.run = ?"
    " GROUP BY i.instance",
    "SELECT h.name || ': ' || sum(s.gaps) || ' batches of single MPI calls were "
    "lost; totals are complete' FROM host h JOIN stream s USING(host) WHERE h.run = ? AND"
    " s.period_ns = 0 GROUP BY h.host HAVING sum(s.gaps) > 0",
    "SELECT n || ' pushes refused: ' || kind FROM refused WHERE run = ? ORDER BY kind",
};

/* Only if agents in this database have this table, and with the level of each if it has one. */
#define OF_AGENTS                                                                                  \
    " FROM host h JOIN instance i ON i.host = h.host JOIN table_info t USING(table_id)"            \
    " WHERE h.run = ? AND t.name = 'note' ORDER BY i.instance"
static const char *const agent_query = "SELECT h.name || ': ' || i.name" OF_AGENTS;
static const char *const agent_query_with_level =
    "SELECT h.name || ': ' || i.name, (SELECT max(d.level) FROM note d WHERE d.instance ="
    " i.instance)" OF_AGENTS;

/* Groups of processes that ended come and go: what is told of them is for information. */
static bool is_of_ended(const char *instance) {
    struct table_key key = key_read(KEY_PROCESS, instance);
    return key.form == KEY_PROCESS && key.process.pid == KEY_ENDED;
}

static bool is_information(sqlite3_stmt *row) {
    char instance[INSTANCE_MAX + 1];
    if (sqlite3_column_count(row) < 2)
        return false;
    if (sqlite3_column_type(row, 1) != SQLITE_TEXT)
        return sqlite3_column_int64(row, 1) == LEVEL_INFORMATION;
    sql_column_text(row, 1, instance, sizeof instance);
    return is_of_ended(instance);
}

static int note_add(struct store_note **notes, size_t *n, sqlite3_stmt *row) {
    struct store_note *grown = realloc(*notes, (*n + 1) * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    *notes = grown;
    grown[*n].text = sql_column_dup(row, 0, NOTE_MAX_BYTES);
    grown[*n].information = is_information(row);
    if (!grown[*n].text)
        return -ENOMEM;
    (*n)++;
    return 0;
}

static int collect(struct store *store, const char *sql, int64_t run, struct store_note **notes,
                   size_t *n) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int code = SQLITE_DONE, r = sql_prepare(store, sql, &statement);
    if (!r)
        r = sql_bind(statement, "i", run);
    while (!r && *n < NOTES_MAX && (code = sqlite3_step(statement)) == SQLITE_ROW)
        r = note_add(notes, n, statement);
    return r ? r : sql_errno(code);
}

int store_list_notes(struct store *store, int64_t run, struct store_note **ret_notes,
                     size_t *ret_n) {
    struct store_note *notes = NULL;
    size_t n = 0;
    int r = sql_has_column(store, "note", "level");
    if (r >= 0)
        r = collect(store, r ? agent_query_with_level : agent_query, run, &notes, &n);
    for (size_t i = 0; !r && i < ARRAY_SIZE(queries); i++)
        r = collect(store, queries[i], run, &notes, &n);
    if (r) {
        store_notes_free(notes, n);
        return r;
    }
    *ret_notes = notes;
    *ret_n = n;
    return 0;
}

void store_notes_free(struct store_note *notes, size_t n) {
    for (size_t i = 0; i < n; i++)
        free(notes[i].text);
    free(notes);
}
