/* SPDX-License-Identifier: MIT */
#include "collector/store_budget_read.h"

#include <errno.h>
#include <stdlib.h>

#include "collector/store_private.h"
#include "common/error.h"

#define SUMS_MAX 262144
#define NAME_MAX_BYTES 256

/* In the order of the terms. Files of older versions lack some. */
static const char *const columns[STORE_BUDGET_TERMS] = {
    "cpu_ns",       "runqueue_ns", "quota_ns",    "steal_ns",        "disk_ns",
    "memory_ns",    "gpu_ns",      "gpu_copy_ns", "stopped_ns",      "idle_ns",
    "peer_wait_ns", "transfer_ns", "file_ns",     "mpi_overhead_ns", "mpi_unsplit_ns"};

/* Somebody's own table may stand under that name. 1, 0, or a negative errno. */
static int has_budgets(struct store *store) {
    static const char *const needed[] = {"run",   "n",       "host",     "process",
                                         "phase", "wall_ns", "iteration"};
    bool has = false;
    int r = sql_has_table(store, "budget", &has);
    for (size_t i = 0; r == 0 && has && i < ARRAY_SIZE(needed); i++) {
        r = sql_has_column(store, "budget", needed[i]);
        has = r > 0;
        r = r < 0 ? r : 0;
    }
    return r ? r : has;
}

static int prepare_sums(struct store *store, int64_t run, sqlite3_stmt **ret_statement) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "SELECT host, process, phase, wall_ns");
    for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
        sqlite3_str_appendf(sql, ", %s",
                            sql_has_column(store, "budget", columns[i]) > 0 ? columns[i] : "NULL");
    sqlite3_str_appendf(sql, " FROM budget WHERE run = ? AND iteration IS NULL ORDER BY n");
    int r = sql_prepare_made(store, sqlite3_str_finish(sql), ret_statement);
    return r ? r : sql_bind(*ret_statement, "i", run);
}

static int append_sum(struct store_budget_sum **sums, size_t *n, sqlite3_stmt *row) {
    if ((*n & (*n - 1)) == 0) { /* the room doubles */
        struct store_budget_sum *grown = realloc(*sums, (*n ? 2 * *n : 1) * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        *sums = grown;
    }
    struct store_budget_sum *sum = &(*sums)[(*n)++];
    *sum = (struct store_budget_sum){.host = sql_column_dup(row, 0, NAME_MAX_BYTES),
                                     .process = sql_column_dup(row, 1, NAME_MAX_BYTES),
                                     .phase = sql_column_dup(row, 2, NAME_MAX_BYTES),
                                     .wall_ns = sql_column(row, 3)};
    for (int i = 0; i < STORE_BUDGET_TERMS; i++)
        sum->term_ns[i] = sql_column(row, 4 + i);
    return sum->host && sum->process && sum->phase ? 0 : -ENOMEM;
}

int store_list_budget_sums(struct store *store, int64_t run, struct store_budget_sum **ret_sums,
                           size_t *ret_n) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    struct store_budget_sum *sums = NULL;
    size_t n = 0;
    int code = SQLITE_DONE, r = has_budgets(store);
    if (r > 0)
        r = prepare_sums(store, run, &statement);
    while (r == 0 && statement && n < SUMS_MAX && (code = sqlite3_step(statement)) == SQLITE_ROW)
        r = append_sum(&sums, &n, statement);
    r = r ? r : sql_errno(code);
    if (r) {
        store_budget_sums_free(sums, n);
        return r;
    }
    *ret_sums = sums;
    *ret_n = n;
    return 0;
}

void store_budget_sums_free(struct store_budget_sum *sums, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(sums[i].host);
        free(sums[i].process);
        free(sums[i].phase);
    }
    free(sums);
}
