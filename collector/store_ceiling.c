/* SPDX-License-Identifier: MIT */
/*
 * Ceilings belong to a database and not to a run: they are found by the name of the host. Every
 * calibration is kept with its time; readers get the newest for each metric.
 */
#include "collector/store_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_read.h"
#include "common/error.h"

#define TEXT_MAX_BYTES 256
#define CEILINGS_MAX (64 * 1024) /* read from one file */

static int add_all(struct store *store, const struct store_ceiling *ceilings, size_t n) {
    int r = sql_exec(store, STORE_CEILING_SCHEMA);
    for (size_t i = 0; i < n && r == 0; i++) {
        const struct store_ceiling *c = &ceilings[i];
        r = sql_run(store, SQL_CEILING_INSERT, "ttttdddit", c->host, c->peer, c->metric, c->unit,
                    c->value, c->low, c->high, c->measured_wall_ns, c->how);
    }
    return r;
}

int store_ceilings_add(struct store *store, const struct store_ceiling *ceilings, size_t n) {
    int r = sql_exec(store, "BEGIN IMMEDIATE");
    if (r)
        return r;
    r = add_all(store, ceilings, n);
    if (r == 0)
        r = sql_exec(store, "COMMIT");
    if (r)
        sql_undo(store, "ROLLBACK");
    return r;
}

/* With one max() and no other aggregate, SQLite takes the other columns from the row of the
 * maximum. */
static const char query[] =
    "SELECT host, peer, metric, unit, value, low, high, how, measured FROM (SELECT *,"
    " max(measured_wall_ns) AS measured FROM ceiling GROUP BY host, peer, metric) ORDER BY ceiling";

static double number(sqlite3_stmt *row, int column) {
    int type = sqlite3_column_type(row, column);
    return type == SQLITE_FLOAT || type == SQLITE_INTEGER ? sqlite3_column_double(row, column)
                                                          : NAN;
}

static void release_ceiling(struct store_ceiling *c) {
    free(c->host);
    free(c->peer);
    free(c->metric);
    free(c->unit);
    free(c->how);
}

static int read_ceiling(sqlite3_stmt *row, struct store_ceiling *c) {
    bool has_peer = sqlite3_column_type(row, 1) != SQLITE_NULL;
    int64_t measured = sql_column(row, 8);
    *c = (struct store_ceiling){.host = sql_column_dup(row, 0, TEXT_MAX_BYTES),
                                .peer = has_peer ? sql_column_dup(row, 1, TEXT_MAX_BYTES) : NULL,
                                .metric = sql_column_dup(row, 2, TEXT_MAX_BYTES),
                                .unit = sql_column_dup(row, 3, TEXT_MAX_BYTES),
                                .value = number(row, 4),
                                .low = number(row, 5),
                                .high = number(row, 6),
                                .how = sql_column_dup(row, 7, TEXT_MAX_BYTES),
                                .measured_wall_ns = measured < 0 ? 0 : measured};
    if (c->host && (c->peer || !has_peer) && c->metric && c->unit && c->how)
        return 0;
    release_ceiling(c);
    return -ENOMEM;
}

static int append_ceiling(sqlite3_stmt *row, struct store_ceiling **list, size_t *n) {
    double value = number(row, 4);
    if (!isfinite(value) || value <= 0)
        return 0;
    struct store_ceiling *grown = realloc(*list, (*n + 1) * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    *list = grown;
    int r = read_ceiling(row, &grown[*n]);
    *n += r == 0;
    return r;
}

int store_list_ceilings(struct store *store, struct store_ceiling **ret_ceilings, size_t *ret_n) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    struct store_ceiling *list = NULL;
    size_t n = 0;
    bool has;
    int code = SQLITE_DONE, r = sql_has_table(store, "ceiling", &has);
    if (r == 0 && has)
        r = sql_prepare(store, query, &statement);
    while (r == 0 && has && n < CEILINGS_MAX && (code = sqlite3_step(statement)) == SQLITE_ROW)
        r = append_ceiling(statement, &list, &n);
    r = r ? r : sql_errno(code);
    if (r) {
        store_ceilings_free(list, n);
        return r;
    }
    *ret_ceilings = list;
    *ret_n = n;
    return 0;
}

void store_ceilings_free(struct store_ceiling *ceilings, size_t n) {
    for (size_t i = 0; i < n; i++)
        release_ceiling(&ceilings[i]);
    free(ceilings);
}
