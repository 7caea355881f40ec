/* SPDX-License-Identifier: MIT */
#include "collector/store_verdict.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_private.h"
#include "common/error.h"

#define VERDICTS_MAX 65536
#define TEXT_MAX_BYTES 512

static int replace_verdict(struct store *store, const struct store_verdict *v) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    char limit[TEXT_MAX_BYTES];
    text_sanitize(limit, sizeof limit, v->limit, strlen(v->limit));
    int r = sql_prepare(store,
                        "INSERT OR REPLACE INTO run_verdict SELECT run, ?2, ?3, ?4, ?5, ?6 FROM run"
                        " WHERE run = ?1",
                        &statement);
    if (r == 0)
        r = sql_bind(statement, "itttdt", v->run, v->state, v->host, v->resource, v->confidence,
                     limit);
    if (r == 0)
        r = sql_errno(sqlite3_step(statement));
    return r == 0 && sqlite3_changes(store->db) == 0 ? -ENOENT : r;
}

/* NULL in the table where it is not known. */
static int bind_number(sqlite3_stmt *statement, int place, double number) {
    return isnan(number) ? 0 : sql_errno(sqlite3_bind_double(statement, place, number));
}

static int replace_use(struct store *store, const struct store_verdict *v) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    const double numbers[] = {v->use.cores,          v->use.cores_used, v->use.memory_gb,
                              v->use.memory_peak_gb, v->use.gpus,       v->use.gpus_used};
    int r = sql_prepare(store, "INSERT OR REPLACE INTO run_use VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                        &statement);
    if (r == 0)
        r = sql_bind(statement, "i", v->run);
    for (int i = 0; r == 0 && i < (int)ARRAY_SIZE(numbers); i++)
        r = bind_number(statement, i + 2, numbers[i]);
    return r ? r : sql_errno(sqlite3_step(statement));
}

int store_verdict_keep(struct store *store, const struct store_verdict *verdict) {
    int r = store_begin(store);
    if (r)
        return r;
    r = replace_verdict(store, verdict);
    if (r == 0)
        r = replace_use(store, verdict);
    if (r == 0)
        r = store_commit(store);
    if (r)
        store_rollback(store);
    return r;
}

static double number_in(sqlite3_stmt *row, int column) {
    return sqlite3_column_type(row, column) == SQLITE_FLOAT ? sqlite3_column_double(row, column)
                                                            : NAN;
}

static int append_verdict(struct store_verdict **verdicts, size_t *n, sqlite3_stmt *row) {
    struct store_verdict *grown = realloc(*verdicts, (*n + 1) * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    *verdicts = grown;
    struct store_verdict *v = &grown[*n];
    *v = (struct store_verdict){.run = sql_column(row, 0),
                                .state = sql_column_dup(row, 1, TEXT_MAX_BYTES),
                                .host = sql_column_dup(row, 2, TEXT_MAX_BYTES),
                                .resource = sql_column_dup(row, 3, TEXT_MAX_BYTES),
                                .confidence = sqlite3_column_double(row, 4),
                                .limit = sql_column_dup(row, 5, TEXT_MAX_BYTES),
                                .use = {number_in(row, 6), number_in(row, 7), number_in(row, 8),
                                        number_in(row, 9), number_in(row, 10), number_in(row, 11)}};
    (*n)++;
    return v->state && v->host && v->resource && v->limit ? 0 : -ENOMEM;
}

int store_list_verdicts(struct store *store, struct store_verdict **ret_verdicts, size_t *ret_n) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    struct store_verdict *verdicts = NULL;
    size_t n = 0;
    bool has = false, has_use = false;
    int code = SQLITE_DONE, r = sql_has_table(store, "run_verdict", &has);
    if (r == 0)
        r = sql_has_table(store, "run_use", &has_use);
    if (r == 0 && has)
        r = sql_prepare(store,
                        has_use
                            ? "SELECT run, state, host, resource, confidence, limit_said, cores,"
                              " cores_used, memory_gb, memory_peak_gb, gpus, gpus_used"
                              " FROM run_verdict LEFT JOIN run_use USING (run) ORDER BY run"
                            : "SELECT run, state, host, resource, confidence, limit_said, NULL,"
                              " NULL, NULL, NULL, NULL, NULL FROM run_verdict ORDER BY run",
                        &statement);
    while (r == 0 && has && n < VERDICTS_MAX && (code = sqlite3_step(statement)) == SQLITE_ROW)
        r = append_verdict(&verdicts, &n, statement);
    r = r ? r : sql_errno(code);
    if (r) {
        store_verdicts_free(verdicts, n);
        return r;
    }
    *ret_verdicts = verdicts;
    *ret_n = n;
    return 0;
}

void store_verdicts_free(struct store_verdict *verdicts, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(verdicts[i].state);
        free(verdicts[i].host);
        free(verdicts[i].resource);
        free(verdicts[i].limit);
    }
    free(verdicts);
}
