/* SPDX-License-Identifier: MIT */
/*
 * Where the time of each rank went, as rows for queries in SQL. They are no view: which rank a call
 * waited for is known only when the calls of all ranks are matched, which SQL cannot do. So the
 * rows are written when a run has ended, and can be made again at any time from the recording.
 */
#include "collector/store_private.h"

#include <errno.h>

#include "common/error.h"

#define HEAD "iitiittiiiiiiidittiiddd" /* columns of the insert besides the terms */

static int64_t known(int64_t value) {
    return value < 0 ? VALUE_ABSENT : value;
}

static int bind_head(sqlite3_stmt *to, int64_t run, int64_t n, const struct store_budget *b) {
    return sql_bind(to, HEAD, run, n, b->host, known(b->rank), known(b->pid), b->process, b->phase,
                    b->iteration, b->every, b->begin_ns, b->end_ns, b->wall_ns, b->unknown_ns,
                    known(b->other_threads_cpu_ns), b->closure_pct, (int64_t)b->trusted, b->source,
                    b->awaited_host, known(b->awaited_rank), known(b->awaited_ns), b->path_pct,
                    b->receiver_pct, b->send_buffer_pct);
}

static int insert(struct store *store, int64_t run, int64_t n, const struct store_budget *budget) {
    int r = 0, first = (int)sizeof HEAD;
    sqlite3_stmt *to = sql_statement(store, SQL_BUDGET_INSERT, &r);
    if (!to)
        return r;
    r = bind_head(to, run, n, budget);
    for (int i = 0; i < STORE_BUDGET_TERMS && r == 0; i++)
        r = budget->term_ns[i] < 0
                ? sql_errno(sqlite3_bind_null(to, first + i))
                : sql_errno(sqlite3_bind_int64(to, first + i, budget->term_ns[i]));
    if (r == 0)
        r = sql_errno(sqlite3_step(to));
    sqlite3_reset(to);
    return r;
}

/* Adds columns for terms that tables of older files lack; existing rows have NULL there. */
static int add_terms(struct store *store) {
    static const struct {
        const char *column, *sql;
    } added[] = {{"stopped_ns", "ALTER TABLE budget ADD COLUMN stopped_ns INTEGER"},
                 {"file_ns", "ALTER TABLE budget ADD COLUMN file_ns INTEGER"},
                 {"gpu_ns", "ALTER TABLE budget ADD COLUMN gpu_ns INTEGER"},
                 {"gpu_copy_ns", "ALTER TABLE budget ADD COLUMN gpu_copy_ns INTEGER"}};
    int r = 0;
    for (size_t i = 0; i < ARRAY_SIZE(added) && r == 0; i++) {
        int64_t found = 0;
        r = sql_get(store, SQL_BUDGET_COLUMN, &found, "t", added[i].column);
        r = r < 0 ? r : found ? 0 : sql_exec(store, added[i].sql);
    }
    return r;
}

static int replace(struct store *store, int64_t run, const struct store_budget *rows, size_t n) {
    int64_t found;
    int r = sql_exec(store, STORE_BUDGET_SCHEMA);
    if (r == 0)
        r = add_terms(store);
    if (r == 0)
        r = sql_get(store, SQL_RUN_EXISTS, &found, "i", run);
    if (r == 0)
        return -ENOENT;
    r = r < 0 ? r : sql_run(store, SQL_BUDGET_DELETE, "i", run);
    for (size_t i = 0; i < n && r == 0; i++)
        r = insert(store, run, (int64_t)i, &rows[i]);
    return r;
}

int store_budget_replace(struct store *store, int64_t run, const struct store_budget *rows,
                         size_t n) {
    int r = sql_exec(store, "BEGIN IMMEDIATE");
    if (r)
        return r;
    r = replace(store, run, rows, n);
    if (r == 0)
        r = sql_exec(store, "COMMIT");
    if (r)
        sql_undo(store, "ROLLBACK");
    return r;
}
