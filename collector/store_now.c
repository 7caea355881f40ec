/* SPDX-License-Identifier: MIT */
#include "collector/store_now.h"

#include <errno.h>
#include <stdio.h>

#include "collector/store_private.h"
#include "common/error.h"

/* The highest percentage in one frame, and its instance. Counters count only in rows with an
 * interval. */
static const struct look {
    enum table_id table;
    const char *resource, *sql;
    int columns[4]; /* of the text, in their order */
} looks[] = {
    {TABLE_CPU,
     "a core",
     "SELECT max(100.0 * (interval_ns - coalesce(%s, 0) - coalesce(%s, 0)) / interval_ns),"
     " instance FROM cpu WHERE frame = ? AND interval_ns > 0",
     {CPU_IDLE, CPU_IOWAIT}},
    {TABLE_MEMORY,
     "memory",
     "SELECT max(100.0 * (%s - %s) / %s), 0 FROM memory WHERE frame = ? AND %s > 0",
     {MEMORY_TOTAL, MEMORY_AVAILABLE, MEMORY_TOTAL, MEMORY_TOTAL}},
    {TABLE_DISK,
     "a disk",
     "SELECT max(100.0 * %s / interval_ns), instance FROM disk WHERE frame = ? AND interval_ns > 0",
     {DISK_BUSY}},
};

static int prepare(struct store *store, const struct look *look, sqlite3_stmt **ret_row) {
    const struct column *columns = all_tables[look->table].columns;
    const char *names[ARRAY_SIZE(look->columns)];
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        names[i] = columns[look->columns[i]].name;
    return sql_prepare_made(
        store, sqlite3_mprintf(look->sql, names[0], names[1], names[2], names[3]), ret_row);
}

static int name_instance(struct store *store, int64_t instance, char *name, size_t size) {
    AUTO(sql_finalize) sqlite3_stmt *row = NULL;
    int r = sql_prepare(store, "SELECT name FROM instance WHERE instance = ?", &row);
    if (r == 0)
        r = sql_bind(row, "i", instance);
    name[0] = '\0';
    if (r == 0 && sqlite3_step(row) == SQLITE_ROW)
        sql_column_text(row, 0, name, size);
    return r;
}

/* Keeps the reading if it is the fullest so far. */
static int read_fullest(struct store *store, const struct look *look, int64_t frame,
                        const char *host, struct store_now *now) {
    AUTO(sql_finalize) sqlite3_stmt *row = NULL;
    bool has = false;
    int r = sql_has_table(store, all_tables[look->table].name, &has);
    if (r || !has)
        return r;
    r = prepare(store, look, &row);
    if (r == 0)
        r = sql_bind(row, "i", frame);
    int code = r ? SQLITE_DONE : sqlite3_step(row);
    if (code != SQLITE_ROW || sqlite3_column_type(row, 0) == SQLITE_NULL)
        return r ? r : sql_errno(code);
    double used_pct = sqlite3_column_double(row, 0);
    if (now->resource && used_pct <= now->used_pct)
        return 0;
    now->resource = look->resource;
    now->used_pct = used_pct > 100 ? 100 : used_pct < 0 ? 0 : used_pct;
    snprintf(now->host, sizeof now->host, "%s", host);
    return name_instance(store, sqlite3_column_int64(row, 1), now->what, sizeof now->what);
}

static int look_at_host(struct store *store, sqlite3_stmt *host, struct store_now *now) {
    char name[INSTANCE_MAX + 1];
    int64_t frame = sql_column(host, 2);
    int r = 0;
    sql_column_text(host, 0, name, sizeof name);
    now->samples += sqlite3_column_int64(host, 1);
    now->hosts += frame != VALUE_ABSENT;
    for (size_t i = 0; r == 0 && i < ARRAY_SIZE(looks) && frame != VALUE_ABSENT; i++)
        r = read_fullest(store, &looks[i], frame, name, now);
    return r;
}

int store_look_now(struct store *store, int64_t run, struct store_now *ret_now) {
    AUTO(sql_finalize) sqlite3_stmt *hosts = NULL;
    struct store_now now = {0};
    int code = SQLITE_DONE;
    int r = sql_prepare(store,
                        "SELECT h.name, s.frames, (SELECT max(f.frame) FROM frame f WHERE f.stream"
                        " = s.stream) FROM host h JOIN stream s USING(host) WHERE h.run = ?"
                        " AND s.period_ns <> 0",
                        &hosts);
    if (r == 0)
        r = sql_bind(hosts, "i", run);
    while (r == 0 && (code = sqlite3_step(hosts)) == SQLITE_ROW)
        r = look_at_host(store, hosts, &now);
    r = r ? r : sql_errno(code);
    if (r == 0)
        *ret_now = now;
    return r;
}
