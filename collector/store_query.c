/* SPDX-License-Identifier: MIT */
/*
 * A query may name any table and view, and call any function, but change nothing and open no other
 * file. The work it may do is a multiple of what readers of the same file may.
 */
#include "collector/store_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_private.h"
#include "common/error.h"

#define COLUMNS_MAX 200
#define WORK_TIMES 4 /* as much as a reader */

struct query_row {
    const char *names[COLUMNS_MAX];
    struct store_cell cells[COLUMNS_MAX];
    char *texts[COLUMNS_MAX]; /* owned */
};

static int refuse(struct store *store, char *why, size_t size) {
    if ((sqlite3_errcode(store->db) & 0xff) == SQLITE_AUTH)
        store_say(why, size, "a query may only read: begin it with SELECT");
    else
        store_say(why, size, "%s", sqlite3_errmsg(store->db));
    return -EINVAL;
}

/* A temporary view is as good as the file's own, of which it is a copy. */
static int begin_to_ask(struct store *store) {
    int r = store_show_all(store);
    if (r)
        return r;
    if (sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_VIEW, 1, (int *)NULL) != SQLITE_OK)
        return -EIO;
    if (store->steps_left < INT64_MAX / WORK_TIMES)
        store->steps_left *= WORK_TIMES;
    store->asked = true;
    return 0;
}

static bool is_blank(const char *text) {
    return text[strspn(text, " \t\r\n;")] == '\0';
}

static int prepare_query(struct store *store, const char *sql, sqlite3_stmt **ret_statement,
                         char *why, size_t size) {
    const char *rest = "";
    if (sqlite3_prepare_v2(store->db, sql, -1, ret_statement, &rest) != SQLITE_OK)
        return refuse(store, why, size);
    int n = *ret_statement ? sqlite3_column_count(*ret_statement) : 0;
    if (!is_blank(rest))
        store_say(why, size, "one statement at a time");
    else if (!*ret_statement)
        store_say(why, size, "the query is empty");
    else if (n == 0 || !sqlite3_stmt_readonly(*ret_statement))
        store_say(why, size, "a query may only read: begin it with SELECT");
    else if (n > COLUMNS_MAX)
        store_say(why, size, "more than %d columns", COLUMNS_MAX);
    else
        return 0;
    return -EINVAL;
}

/* Values that are neither numbers nor texts are told by their size. */
static int fill_text(struct query_row *row, sqlite3_stmt *statement, int column) {
    bool is_text = sqlite3_column_type(statement, column) == SQLITE_TEXT;
    free(row->texts[column]);
    row->texts[column] = is_text ? sql_column_dup(statement, column, SIZE_MAX - 1)
                                 : malloc(sizeof "(123456789012 bytes)");
    if (!row->texts[column])
        return -ENOMEM;
    if (!is_text)
        sqlite3_snprintf(sizeof "(123456789012 bytes)", row->texts[column], "(%d bytes)",
                         sqlite3_column_bytes(statement, column));
    row->cells[column] = (struct store_cell){.kind = STORE_CELL_TEXT, .text = row->texts[column]};
    return 0;
}

static int fill_row(struct query_row *row, sqlite3_stmt *statement, int n) {
    int r = 0;
    for (int i = 0; i < n && r == 0; i++) {
        struct store_cell *cell = &row->cells[i];
        int type = sqlite3_column_type(statement, i);
        *cell = (struct store_cell){.kind = STORE_CELL_NULL};
        if (type == SQLITE_INTEGER)
            *cell = (struct store_cell){.kind = STORE_CELL_INTEGER,
                                        .integer = sqlite3_column_int64(statement, i)};
        else if (type == SQLITE_FLOAT)
            *cell = (struct store_cell){.kind = STORE_CELL_REAL,
                                        .real = sqlite3_column_double(statement, i)};
        else if (type != SQLITE_NULL)
            r = fill_text(row, statement, i);
    }
    return r;
}

static int pass_rows(struct store *store, sqlite3_stmt *statement, struct query_row *row,
                     const struct store_view_reader *reader, char *why, size_t size) {
    int code = SQLITE_DONE, n = sqlite3_column_count(statement);
    for (int i = 0; i < n; i++)
        row->names[i] = sqlite3_column_name(statement, i);
    int r = reader->header(reader->ctx, row->names, (size_t)n);
    while (r >= 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        r = fill_row(row, statement, n);
        if (r >= 0)
            r = reader->row(reader->ctx, row->cells, (size_t)n);
    }
    if (r < 0 || code == SQLITE_DONE)
        return r < 0 ? r : 0;
    if (code == SQLITE_INTERRUPT)
        return -ETIME;
    return (code & 0xff) == SQLITE_ERROR ? refuse(store, why, size) : sql_errno(code);
}

int store_query(struct store *store, const char *sql, const struct store_view_reader *reader,
                char *why, size_t why_size) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int r = begin_to_ask(store);
    if (!r)
        r = prepare_query(store, sql, &statement, why, why_size);
    if (r)
        return r;
    struct query_row *row = calloc(1, sizeof *row);
    r = row ? pass_rows(store, statement, row, reader, why, why_size) : -ENOMEM;
    for (size_t i = 0; row && i < COLUMNS_MAX; i++)
        free(row->texts[i]);
    free(row);
    return r;
}
