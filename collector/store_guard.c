/* SPDX-License-Identifier: MIT */
/*
 * Checks the contents of a file that are not the store's. People may add plain tables, views and
 * plain indexes for queries of their own; these never run here. Objects that act by themselves are
 * refused: triggers, virtual tables, and expressions in or on the store's own tables.
 */
#include "collector/store_guard.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/store_mark.h"
#include "collector/store_module.h"
#include "collector/store_private.h"
#include "common/error.h"
#include "common/link_guard.h"
#include "common/text.h"

#define PAGE_MAX (16 << 10) /* the store's are 4 KiB; a cache holds many pages */

/* ---- the connection ---- */

static const char *const functions[] = {"avg", "coalesce", "count", "lower", "max", "min", "sum",
                                        /* within ALTER TABLE */
                                        "length", "printf", "substr"};
static const char *const pragmas[] = {
    "application_id", "auto_vacuum",  "cache_size",     "cell_size_check", "encoding",
    "freelist_count", "journal_mode", "max_page_count", "page_count",      "page_size",
    "query_only",     "quick_check",  "schema_version", "secure_delete",   "synchronous",
    "table_info",     "temp_store",   "user_version",   "wal_checkpoint",  "wal_autocheckpoint"};

/* VACUUM copies rows unchanged into a temporary database, which SQLite attaches for it. */
static const char *const compacting_functions[] = {"coalesce", "quote", "||"};

static bool is_among(const char *const *names, size_t n, const char *name) {
    for (size_t i = 0; name && i < n; i++)
        if (strcasecmp(names[i], name) == 0)
            return true;
    return false;
}

/* A temporary virtual table of the store's module is described in a table of the connection. SQLite
 * also prepares, but does not run, what would describe it in the file. */
static bool is_of_shown(int action, const char *first, const char *second) {
    if (action == SQLITE_CREATE_VTABLE)
        return strcmp(second, STORE_MODULE) == 0;
    if (action == SQLITE_CREATE_TEMP_VIEW)
        return true;
    return (action == SQLITE_INSERT || action == SQLITE_UPDATE) &&
           strncmp(first, "sqlite_", 7) == 0;
}

/* A query of people may read, by any view and function. For one that gives a table SQLite
 * prepares, but does not run, a change of the schema; real ones meet a connection that only
 * reads. */
static bool may_ask(int action, const char *first, const char *second) {
    static const char *const shown[] = {"table_info", "table_xinfo", "table_list", "index_list"};
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE ||
           (action == SQLITE_FUNCTION && strcasecmp(second, "load_extension") != 0) ||
           (action == SQLITE_UPDATE && strcmp(first, "sqlite_master") == 0) ||
           (action == SQLITE_PRAGMA && is_among(shown, ARRAY_SIZE(shown), first));
}

/* SQLite asks for every step of every statement when it prepares it. `by` is the trigger or view
 * that the step belongs to. */
static int authorize(void *ctx, int action, const char *first, const char *second, const char *base,
                     const char *by) {
    const struct store *store = ctx;
    (void)base;
    if (store->asked)
        return may_ask(action, first, second) ? SQLITE_OK : SQLITE_DENY;
    if (by)
        return SQLITE_DENY;
    if (store->showing && is_of_shown(action, first, second))
        return SQLITE_OK;
    if (store->compacting)
        return action == SQLITE_FUNCTION &&
                       !is_among(compacting_functions, ARRAY_SIZE(compacting_functions), second)
                   ? SQLITE_DENY
                   : SQLITE_OK;
    switch (action) {
    case SQLITE_READ:
    case SQLITE_SELECT:
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return is_among(functions, ARRAY_SIZE(functions), second) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA:
        return is_among(pragmas, ARRAY_SIZE(pragmas), first) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
    case SQLITE_CREATE_TABLE:
    case SQLITE_ALTER_TABLE:
    case SQLITE_CREATE_INDEX:
    case SQLITE_REINDEX:
    case SQLITE_CREATE_VIEW:
    case SQLITE_DROP_VIEW:
        return store->writable ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

/* No mapped memory: if another program cut the file short, an access would kill the process. */
int guard_connection(struct store *store) {
    static const struct {
        int option, value;
    } configuration[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, 0},    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0}};
    int code = SQLITE_OK;
    sqlite3_int64 no_mapping = 0;
    for (size_t i = 0; i < ARRAY_SIZE(configuration) && code == SQLITE_OK; i++)
        code = sqlite3_db_config(store->db, configuration[i].option, configuration[i].value,
                                 (int *)NULL);
    sqlite3_limit(store->db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(store->db, SQLITE_LIMIT_TRIGGER_DEPTH, 0);
    sqlite3_limit(store->db, SQLITE_LIMIT_WORKER_THREADS, 0);
    sqlite3_file_control(store->db, NULL, SQLITE_FCNTL_MMAP_SIZE, &no_mapping);
    if (code == SQLITE_OK)
        code = sqlite3_set_authorizer(store->db, authorize, store);
    return code == SQLITE_OK ? 0 : -EIO;
}

/* ---- the file ---- */

/* -EPERM, with the reason in `why`. */
#define REFUSE(why, size, ...) (store_say(why, size, __VA_ARGS__), -EPERM)

static int check_page_format(struct store *store, char *why, size_t size) {
    AUTO(sql_finalize) sqlite3_stmt *bytes = NULL, *encoding = NULL;
    char name[16];
    int r = sql_prepare(store, "PRAGMA page_size", &bytes);
    if (!r)
        r = sql_prepare(store, "PRAGMA encoding", &encoding);
    if (r)
        return r;
    if (sqlite3_step(bytes) != SQLITE_ROW || sqlite3_step(encoding) != SQLITE_ROW)
        return -EBADMSG;
    if (sqlite3_column_int64(bytes, 0) > PAGE_MAX)
        return REFUSE(why, size, "has pages of %lld bytes",
                      (long long)sqlite3_column_int64(bytes, 0));
    sql_column_text(encoding, 0, name, sizeof name);
    return strcmp(name, "UTF-8") == 0 ? 0 : REFUSE(why, size, "is encoded in %s", name);
}

/* The text in the first row of a query: 1; 0: no row. */
static int first_name(struct store *store, const char *sql, char *name, size_t size) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int r = sql_prepare(store, sql, &statement);
    if (r)
        return r;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        sql_column_text(statement, 0, name, size);
    return code == SQLITE_ROW ? 1 : sql_errno(code);
}

static int check_actors(struct store *store, char *why, size_t size) {
    char name[128];
    int r = first_name(store, "SELECT name FROM sqlite_schema WHERE type = 'trigger'", name,
                       sizeof name);
    if (r > 0)
        return REFUSE(why, size, "has a trigger '%s'", name);
    if (r == 0)
        r = first_name(store,
                       "SELECT name FROM sqlite_schema WHERE type = 'table'"
                       " AND coalesce(rootpage, 0) < 1"
                       " AND NOT (name = '" MARK_NAME "' AND sql = '" MARK_SQL "')",
                       name, sizeof name);
    return r > 0 ? REFUSE(why, size, "has a virtual table '%s'", name) : r;
}

static bool is_foreign(uid_t owner) {
    return owner != geteuid() && owner != 0;
}

int guard_owner(const char *path, char *why, size_t size) {
    struct stat file, directory;
    char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    bool known = stat(path, &file) == 0 && stat(dirname(copy), &directory) == 0;
    free(copy);
    if (!known || !is_foreign(file.st_uid) || !(directory.st_mode & (S_IWGRP | S_IWOTH)))
        return 0;
    return REFUSE(why, size,
                  "%s belongs to another user (uid %u) in a directory that others can write: name"
                  " another file with --db",
                  path, (unsigned)file.st_uid);
}

int guard_links(const char *path, char *why, size_t size) {
    char link[PATH_MAX];
    int r = link_guard(path, link);
    return r == -EPERM
               ? REFUSE(why, size,
                        "%s: %s is a link that another user owns or can replace: name the file that"
                        " it leads to",
                        path, link)
               : 0; /* other faults show when the file is opened */
}

/* ---- definitions ---- */

static bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The position behind a quoted name or text; SQLite doubles a quote within it. */
static const char *skip_quoted(const char *p) {
    char quote = *p == '[' ? ']' : *p;
    for (p++; *p; p++) {
        if (*p != quote)
            continue;
        if (p[1] != quote || quote == ']')
            return p + 1;
        p++;
    }
    return p;
}

/* The next unquoted word; false at the end. */
static bool next_word(const char **p, struct span *ret_word) {
    const char *q = *p;
    while (*q && !is_word_char(*q))
        q = strchr("\"'`[", *q) ? skip_quoted(q) : q + 1;
    const char *start = q;
    while (is_word_char(*q))
        q++;
    *p = q;
    *ret_word = (struct span){start, (size_t)(q - start)};
    return q > start;
}

/* The first word of the definition that is in the list; false: none. */
static bool has_word(const char *sql, const char *const *words, size_t n, const char **ret_word) {
    struct span word;
    while (next_word(&sql, &word))
        for (size_t i = 0; i < n; i++)
            if (strlen(words[i]) == word.size && strncasecmp(words[i], word.data, word.size) == 0) {
                *ret_word = words[i];
                return true;
            }
    return false;
}

/* Within CREATE TABLE an expression follows one of these words, or DEFAULT with a bracket. A
 * conflict clause could drop rows that are written. */
static bool table_acts(const char *sql, const char **ret_word) {
    static const char *const words[] = {"CHECK",    "GENERATED", "AS",        "COLLATE",
                                        "CONFLICT", "FOREIGN",   "REFERENCES"};
    static const char *const assigned[] = {"DEFAULT"};
    struct span word;
    if (has_word(sql, words, ARRAY_SIZE(words), ret_word))
        return true;
    while (next_word(&sql, &word)) {
        const char *after = sql + strspn(sql, " \t\r\n");
        *ret_word = assigned[0];
        if (word.size == 7 && strncasecmp(word.data, "DEFAULT", 7) == 0 &&
            (*after < '0' || *after > '9'))
            return true;
    }
    return false;
}

/* An index over columns alone; its columns may have any name. */
static bool index_acts(const char *sql, const char **ret_word) {
    static const char *const words[] = {"UNIQUE", "WHERE", "COLLATE"};
    if (has_word(sql, words, ARRAY_SIZE(words), ret_word))
        return true;
    *ret_word = "an expression";
    const char *open = strchr(sql, '(');
    return open && strchr(open + 1, '(');
}

/* Rows of sqlite_schema for the tables of the store; indexes of PRIMARY KEY and UNIQUE have no
 * text. */
static const char definitions[] =
    "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('table', 'index')"
    " AND sql IS NOT NULL AND (lower(tbl_name) IN (SELECT lower(name) FROM table_info)"
    " OR lower(tbl_name) IN ('run', 'run_note', 'refused', 'host', 'stream', 'frame', 'table_info',"
    " 'column_info', 'instance', 'clock', 'clock_piece', 'counter_reset', 'counter_state', "
    "'joined', 'block',"
    " 'ceiling', 'run_repeat', 'run_usage', 'budget', 'sweep', 'sweep_value', 'sweep_run', "
    "'run_label', 'run_comment', 'run_verdict', 'run_use'))";

static int check_definition(sqlite3_stmt *row, char *why, size_t size) {
    char name[128];
    const char *word, *sql = (const char *)sqlite3_column_text(row, 2);
    bool is_index = strcmp((const char *)sqlite3_column_text(row, 0), "index") == 0;
    if (!sql || !(is_index ? index_acts(sql, &word) : table_acts(sql, &word)))
        return 0;
    sql_column_text(row, 1, name, sizeof name);
    return REFUSE(why, size, "has %s '%s' with %s", is_index ? "an index" : "a table", name, word);
}

static int check_definitions(struct store *store, char *why, size_t size) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int code = SQLITE_DONE, r = sql_prepare(store, definitions, &statement);
    while (!r && (code = sqlite3_step(statement)) == SQLITE_ROW)
        r = check_definition(statement, why, size);
    return r ? r : sql_errno(code);
}

int guard_file(struct store *store, char *why, size_t size) {
    int r = check_page_format(store, why, size);
    if (!r)
        r = check_actors(store, why, size);
    return r ? r : check_definitions(store, why, size);
}
