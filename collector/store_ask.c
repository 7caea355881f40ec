/* SPDX-License-Identifier: MIT */
/*
 * The rights of a question. SQLite asks the authorizer for each step of a statement when it is
 * prepared; what is not named here is refused. Views run, since the file's own are what people ask,
 * and every step of a view is held to the same list.
 */
#include "collector/store_ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "collector/store_private.h"
#include "common/clock.h"
#include "common/error.h"

#define TEXT_MOST (1 << 18)              /* bytes of a value, also within a statement */
#define MEMORY_MOST (INT64_C(256) << 20) /* of SQLite */
#define STEPS_COUNTED 1000

/* Functions that compute and have no other effect. */
static const char *const functions[] = {
    "abs",         "acos",       "asin",     "atan",         "atan2",        "avg",
    "ceil",        "ceiling",    "char",     "coalesce",     "cos",          "count",
    "cume_dist",   "date",       "datetime", "degrees",      "dense_rank",   "exp",
    "first_value", "floor",      "format",   "glob",         "group_concat", "hex",
    "ifnull",      "iif",        "instr",    "julianday",    "lag",          "last_value",
    "lead",        "length",     "like",     "ln",           "log",          "log10",
    "log2",        "lower",      "ltrim",    "max",          "min",          "mod",
    "nth_value",   "ntile",      "nullif",   "percent_rank", "pi",           "pow",
    "power",       "printf",     "quote",    "radians",      "rank",         "replace",
    "round",       "row_number", "rtrim",    "sign",         "sin",          "sqrt",
    "strftime",    "string_agg", "substr",   "substring",    "sum",          "tan",
    "time",        "total",      "trim",     "trunc",        "typeof",       "unicode",
    "unixepoch",   "upper"};

static int authorize_question(void *ctx, int action, const char *first, const char *second,
                              const char *base, const char *by) {
    (void)ctx;
    (void)first;
    (void)base;
    (void)by;
    if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE)
        return SQLITE_OK;
    for (size_t i = 0; action == SQLITE_FUNCTION && second && i < ARRAY_SIZE(functions); i++)
        if (strcasecmp(functions[i], second) == 0)
            return SQLITE_OK;
    return SQLITE_DENY;
}

struct asking {
    const struct ask *ask;
    int64_t deadline_ns;
    bool late;
};

static int watch_time(void *ctx) {
    struct asking *asking = ctx;
    asking->late = clock_monotonic_ns() > asking->deadline_ns;
    return asking->late;
}

static int restrict_rights(struct store *store, struct asking *asking) {
    static const int limits[][2] = {{SQLITE_LIMIT_LENGTH, TEXT_MOST},
                                    {SQLITE_LIMIT_SQL_LENGTH, 10 * ASK_SQL_MAX},
                                    {SQLITE_LIMIT_COLUMN, ASK_COLUMNS_MAX + STORE_COLUMNS_MAX},
                                    {SQLITE_LIMIT_EXPR_DEPTH, 200},
                                    {SQLITE_LIMIT_COMPOUND_SELECT, 100},
                                    {SQLITE_LIMIT_VDBE_OP, 250000},
                                    {SQLITE_LIMIT_FUNCTION_ARG, 50},
                                    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200}};
    int code = sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_VIEW, 1, (int *)NULL);
    for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
        sqlite3_limit(store->db, limits[i][0], limits[i][1]);
    sqlite3_hard_heap_limit64(MEMORY_MOST);
    sqlite3_progress_handler(store->db, STEPS_COUNTED, watch_time, asking);
    if (code == SQLITE_OK)
        code = sqlite3_set_authorizer(store->db, authorize_question, NULL);
    return sql_errno(code);
}

/* ---- one statement ---- */

static int say_refused(struct store *store, int code, const struct asking *asking, char *why,
                       size_t size) {
    code &= 0xff;
    if (asking->late)
        store_say(why, size, "it took longer than %.0f s: ask for less",
                  (double)asking->ask->limit_ns / NS_PER_S);
    else if (code == SQLITE_AUTH)
        store_say(why, size, "only reading is allowed (%s)", sqlite3_errmsg(store->db));
    else if (code == SQLITE_NOMEM)
        store_say(why, size, "it takes too much memory: ask for less");
    else
        store_say(why, size, "%s", sqlite3_errmsg(store->db));
    return asking->late           ? -ETIME
           : code == SQLITE_AUTH  ? -EPERM
           : code == SQLITE_NOMEM ? -ENOMEM
           : code == SQLITE_ERROR || code == SQLITE_TOOBIG || code == SQLITE_RANGE
               ? -EINVAL
               : sql_errno(code);
}

/* Whether anything but comments and space follows. */
static bool has_more(struct store *store, const char *tail) {
    sqlite3_stmt *more = NULL;
    int code = tail && *tail ? sqlite3_prepare_v2(store->db, tail, -1, &more, NULL) : SQLITE_OK;
    sqlite3_finalize(more);
    return code != SQLITE_OK || more;
}

static int prepare_question(struct store *store, const struct asking *asking, sqlite3_stmt **ret,
                            char *why, size_t size) {
    const char *tail = NULL, *sql = asking->ask->sql;
    if (strlen(sql) > ASK_SQL_MAX) {
        store_say(why, size, "a question has at most %d bytes", ASK_SQL_MAX);
        return -EINVAL;
    }
    int code = sqlite3_prepare_v2(store->db, sql, -1, ret, &tail);
    if (code != SQLITE_OK)
        return say_refused(store, code, asking, why, size);
    if (!*ret)
        store_say(why, size, "there is no statement");
    else if (has_more(store, tail))
        store_say(why, size, "one statement at a time");
    else if (sqlite3_column_count(*ret) > ASK_COLUMNS_MAX)
        store_say(why, size, "at most %d columns: name the ones you want", ASK_COLUMNS_MAX);
    else if (sqlite3_stmt_readonly(*ret) && sqlite3_column_count(*ret) > 0)
        return 0;
    else
        store_say(why, size, "only SELECT is allowed");
    return -EPERM;
}

/* ---- rows ---- */

static struct ask_cell cell_of(sqlite3_stmt *statement, int column, char **text) {
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        return (struct ask_cell){.kind = ASK_INTEGER,
                                 .integer = sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
        return (struct ask_cell){.kind = ASK_REAL,
                                 .real = sqlite3_column_double(statement, column)};
    case SQLITE_TEXT:
        *text = sql_column_dup(statement, column, TEXT_MOST);
        return (struct ask_cell){.kind = *text ? ASK_TEXT : ASK_NULL, .text = *text};
    case SQLITE_BLOB:
        return (struct ask_cell){.kind = ASK_BYTES,
                                 .integer = sqlite3_column_bytes(statement, column)};
    default:
        return (struct ask_cell){.kind = ASK_NULL};
    }
}

/* Hands a row on; true: that is enough. */
static bool give_row(const struct ask *ask, sqlite3_stmt *statement, int n) {
    struct ask_cell cells[ASK_COLUMNS_MAX] = {{.kind = ASK_NULL}};
    char *texts[ASK_COLUMNS_MAX] = {NULL};
    for (int i = 0; i < n; i++)
        cells[i] = cell_of(statement, i, &texts[i]);
    bool enough = ask->row(ask->ctx, cells, (size_t)n);
    for (int i = 0; i < n; i++)
        free(texts[i]);
    return enough;
}

static void give_names(const struct ask *ask, sqlite3_stmt *statement, int n) {
    const char *names[ASK_COLUMNS_MAX];
    for (int i = 0; i < n; i++)
        names[i] = sqlite3_column_name(statement, i);
    ask->columns(ask->ctx, names, (size_t)n);
}

int store_ask(struct store *store, const struct ask *ask, char *why, size_t size) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    struct asking asking = {.ask = ask, .deadline_ns = clock_monotonic_ns() + ask->limit_ns};
    int code = SQLITE_ROW, r = sql_exec(store, "PRAGMA temp_store=MEMORY"); /* drops all of temp */
    if (r == 0)
        r = store_show_all(store); /* also rows that are packed */
    if (r == 0)
        r = restrict_rights(store, &asking);
    if (r)
        return r;
    r = prepare_question(store, &asking, &statement, why, size);
    if (r)
        return r;
    int n = sqlite3_column_count(statement);
    give_names(ask, statement, n);
    bool enough = false;
    while (!enough && (code = sqlite3_step(statement)) == SQLITE_ROW)
        enough = give_row(ask, statement, n);
    return enough || code == SQLITE_DONE ? 0 : say_refused(store, code, &asking, why, size);
}
