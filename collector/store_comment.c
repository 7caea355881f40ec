/* SPDX-License-Identifier: MIT */
/* A run's name, and the comments of its owner. */
#include "collector/store_edit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_private.h"
#include "common/error.h"

#define COMMENT_MAX_BYTES 4096
#define COMMENTS_MAX 10000

static int change(struct store *store, const char *sql, int64_t run, const char *text) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int r = store_begin(store);
    if (r)
        return r;
    r = sql_prepare(store, sql, &statement);
    if (r == 0)
        r = sql_bind(statement, "it", run, text);
    if (r == 0)
        r = sql_errno(sqlite3_step(statement));
    if (r == 0 && sqlite3_changes(store->db) == 0)
        r = -ENOENT;
    sqlite3_reset(statement);
    if (r == 0)
        r = store_commit(store);
    if (r)
        store_rollback(store);
    return r;
}

int store_run_rename(struct store *store, int64_t run, const char *name) {
    char clean[INSTANCE_MAX + 1];
    text_sanitize(clean, sizeof clean, name, strlen(name));
    return clean[0] ? change(store, "UPDATE run SET name = ?2 WHERE run = ?1", run, clean)
                    : -EINVAL;
}

int store_run_comment(struct store *store, int64_t run, const char *text) {
    char line[COMMENT_MAX_BYTES];
    text_sanitize(line, sizeof line, text, strlen(text));
    return line[0] ? change(store,
                            "INSERT INTO run_comment SELECT ?1, (SELECT coalesce(max(n), 0) + 1"
                            " FROM run_comment WHERE run = ?1), ?2 FROM run WHERE run = ?1",
                            run, line)
                   : -EINVAL;
}

static int append_comment(struct store_comment **comments, size_t *n, sqlite3_stmt *row) {
    struct store_comment *grown = realloc(*comments, (*n + 1) * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    *comments = grown;
    grown[*n] =
        (struct store_comment){sql_column(row, 0), sql_column_dup(row, 1, COMMENT_MAX_BYTES)};
    return grown[*n].text ? (*n)++, 0 : -ENOMEM;
}

int store_list_comments(struct store *store, int64_t run, struct store_comment **ret_comments,
                        size_t *ret_n) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    struct store_comment *comments = NULL;
    size_t n = 0;
    bool has = false;
    int code = SQLITE_DONE, r = sql_has_table(store, "run_comment", &has);
    if (r == 0 && has)
        r = sql_prepare(store,
                        "SELECT run, text FROM run_comment WHERE ?1 IN (0, run) ORDER BY run, n",
                        &statement);
    if (r == 0 && has)
        r = sql_bind(statement, "i", run);
    while (r == 0 && has && n < COMMENTS_MAX && (code = sqlite3_step(statement)) == SQLITE_ROW)
        r = append_comment(&comments, &n, statement);
    r = r ? r : sql_errno(code);
    if (r) {
        store_comments_free(comments, n);
        return r;
    }
    *ret_comments = comments;
    *ret_n = n;
    return 0;
}

void store_comments_free(struct store_comment *comments, size_t n) {
    for (size_t i = 0; i < n; i++)
        free(comments[i].text);
    free(comments);
}
