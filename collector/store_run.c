/* SPDX-License-Identifier: MIT */
/* The life of a run, and notes about it. */
#include "collector/store_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"

/* "./build/train --x" is called train. */
static void name_from_command(const char *command, char *name, size_t size) {
    size_t end = strcspn(command, " \t");
    size_t start = end;
    while (start > 0 && command[start - 1] != '/')
        start--;
    text_sanitize(name, size, command + start, end - start);
    if (!name[0])
        text_sanitize(name, size, "run", 3);
}

static int insert_repeat(struct store *store, const struct run_begin *begin, int64_t run) {
    return sql_run(store, SQL_REPEAT_INSERT, "iiii", run, begin->group ? begin->group : run,
                   (int64_t)begin->repeat, (int64_t)begin->repeats);
}

#define COMMAND_SIZE ((size_t)64 << 10)
#define CUT_SIZE 64

/* A command line for display; a very long one is cut and marked. */
static void clean_command(const char *command, char *to) {
    size_t size = strlen(command);
    bool cut = size >= COMMAND_SIZE;
    text_sanitize(to, cut ? COMMAND_SIZE - CUT_SIZE : COMMAND_SIZE, command, size);
    if (cut)
        snprintf(to + strlen(to), CUT_SIZE, " [... cut: it has %zu bytes]", size);
}

static int insert_run(struct store *store, const struct run_begin *begin, int64_t *ret_run) {
    char name[INSTANCE_MAX + 1], command[COMMAND_SIZE];
    if (!begin->command)
        return -EINVAL;
    clean_command(begin->command, command);
    if (begin->name && begin->name[0])
        text_sanitize(name, sizeof name, begin->name, strlen(begin->name));
    else
        name_from_command(command, name, sizeof name);
    int r = sql_run(store, SQL_RUN_INSERT, "ttiiiit", name, command, begin->wall_ns, begin->mono_ns,
                    begin->period_ns, (int64_t)begin->n_hosts_expected, CHOKEPOINT_VERSION);
    if (!r)
        *ret_run = sqlite3_last_insert_rowid(store->db);
    if (!r && begin->repeats)
        r = insert_repeat(store, begin, *ret_run);
    return r ? r : store_insert_labels(store, begin, *ret_run);
}

/* All rows or none: a repeat without its number would count as a run of its own. */
int store_run_begin(struct store *store, const struct run_begin *begin, int64_t *ret_run) {
    int64_t run = 0;
    int r = sql_exec(store, "SAVEPOINT begin_run");
    if (r)
        return r;
    r = insert_run(store, begin, &run);
    if (r == 0)
        r = sql_exec(store, "RELEASE begin_run");
    if (r) {
        sql_undo(store, "ROLLBACK TO begin_run; RELEASE begin_run");
        return r;
    }
    *ret_run = run;
    return 0;
}

static int require_change(struct store *store, int r) {
    if (r || sqlite3_changes(store->db))
        return r;
    snprintf(store->why, sizeof store->why, "there is no run of that number");
    return -ENOENT;
}

int store_run_end(struct store *store, int64_t run, enum run_state state, int exit_status,
                  int64_t wall_ns, int64_t mono_ns) {
    static const char *const states[] = {"running", "done",        "failed",
                                         "killed",  "interrupted", "not-started"};
    if ((size_t)state >= sizeof states / sizeof *states)
        return -EINVAL;
    return require_change(store, sql_run(store, SQL_RUN_END, "tiiii", states[state],
                                         (int64_t)exit_status, wall_ns, mono_ns, run));
}

int store_run_command_started(struct store *store, int64_t run, int64_t wall_ns, int64_t mono_ns) {
    return require_change(store, sql_run(store, SQL_RUN_STARTED, "iii", wall_ns, mono_ns, run));
}

/* The name under which statements find all rows of a table, those of blocks among them. -ENOENT:
 * there is no such table. */
static int name_all_rows(struct store *store, enum table_id id, char name[STORE_SHOWN_SIZE]) {
    struct data_table *table = NULL;
    bool has = false, in_blocks = false;
    int r = sql_has_table(store, all_tables[id].name, &has);
    if (r || !has)
        return r ? r : -ENOENT;
    r = table_load(store, all_tables[id].name, &table);
    r = r < 0 ? r : r ? blocks_exist(store, table->id, &in_blocks) : -ENOENT;
    snprintf(name, STORE_SHOWN_SIZE, "%s", all_tables[id].name);
    return r || !in_blocks ? r : store_show_events(store, all_tables[id].name, name);
}

/* Whether a row of the table was recorded in the run for which the condition on a column holds. */
static int has_row(struct store *store, int64_t run, enum table_id table, size_t column,
                   const char *condition, bool *ret_has) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    char name[STORE_SHOWN_SIZE];
    int r = name_all_rows(store, table, name);
    if (r)
        return r;
    r = sql_prepare_made(
        store,
        sqlite3_mprintf("SELECT 1 FROM host h JOIN stream s USING(host) JOIN frame f USING(stream)"
                        " JOIN \"%w\" p USING(frame) WHERE h.run = ? AND p.%s %s LIMIT 1",
                        name, all_tables[table].columns[column].name, condition),
        &statement);
    if (!r)
        r = sql_bind(statement, "i", run);
    if (r)
        return r;
    int code = sqlite3_step(statement);
    *ret_has = code == SQLITE_ROW;
    return *ret_has ? 0 : sql_errno(code);
}

int store_run_has_ranks(struct store *store, int64_t run, bool *ret_has) {
    return has_row(store, run, TABLE_PROCESS, PROCESS_RANK, "IS NOT NULL", ret_has);
}

int store_run_has_job(struct store *store, int64_t run, bool *ret_has) {
    return has_row(store, run, TABLE_PROCESS, PROCESS_JOB, "= 1", ret_has);
}

/* Rows about their cost count them: each by how many there were since the one before. */
int store_run_scans(struct store *store, int64_t run, int64_t *ret_n) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    bool has;
    int r = sql_has_table(store, all_tables[TABLE_SELF].name, &has);
    if (r || !has)
        return r ? r : -ENOENT;
    r = sql_prepare_made(
        store,
        sqlite3_mprintf("SELECT min((SELECT coalesce(sum(coalesce(x.%s, 1)), 0) FROM stream s JOIN "
                        "frame f USING(stream)"
                        " JOIN %s x USING(frame) JOIN instance i USING(instance)"
                        " WHERE s.host = h.host AND i.name = '%q')) FROM host h WHERE h.run = ?",
                        all_tables[TABLE_SELF].columns[SELF_SAMPLES].name,
                        all_tables[TABLE_SELF].name, all_tables[TABLE_PROCESS].name),
        &statement);
    if (!r)
        r = sql_bind(statement, "i", run);
    if (r)
        return r;
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW)
        return sql_errno(code);
    *ret_n = sqlite3_column_int64(statement, 0); /* NULL, without hosts, is 0 */
    return 0;
}

int store_run_note(struct store *store, int64_t run, const char *text) {
    char line[4096];
    text_sanitize(line, sizeof line, text, strlen(text));
    return sql_run(store, SQL_NOTE_INSERT, "it", run, line);
}

int store_run_refused(struct store *store, int64_t run, const char *kind, int64_t n) {
    return sql_run(store, SQL_REFUSED_ADD, "iti", run, kind, n);
}
