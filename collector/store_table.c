/* SPDX-License-Identifier: MIT */
/*
 * Data tables: made from the streams' descriptors, and widened when a stream brings new columns. A
 * column must mean the same to all versions of an agent, or the later version is refused: a column
 * has one unit.
 */
#include "collector/store_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const table_kinds[TABLE_COUNT_] = {"samples", "events"};
static const char *const column_kinds[COLUMN_COUNT_] = {"counter", "level"};

enum unit unit_from_text(const char *text) {
    for (int unit = 0; unit < UNIT_COUNT_; unit++)
        if (strcmp(unit_text((enum unit)unit), text) == 0)
            return (enum unit)unit;
    return UNIT_NONE;
}

static int refuse_shape(struct store *store, int error, const char *table, const char *why) {
    sqlite3_snprintf(sizeof store->why, store->why, "table %s: %s", table, why);
    return error;
}

/* ---- the database's description ---- */

static int load_columns(struct store *store, struct data_table *table) {
    int r = 0;
    sqlite3_stmt *statement = sql_statement(store, SQL_COLUMN_LIST, &r);
    if (!statement)
        return r;
    sql_bind(statement, "i", table->id);
    table->n_columns = 0;
    bool bad = false; /* names become parts of statements */
    while (sqlite3_step(statement) == SQLITE_ROW && table->n_columns < STORE_COLUMNS_MAX) {
        struct data_column *column = &table->columns[table->n_columns++];
        char unit[16], kind[16];
        sql_column_text(statement, 0, column->name, sizeof column->name);
        bad |= !table_name_valid(column->name, strlen(column->name));
        sql_column_text(statement, 1, unit, sizeof unit);
        sql_column_text(statement, 2, kind, sizeof kind);
        column->unit = unit_from_text(unit);
        column->kind = strcmp(kind, "counter") == 0 ? COLUMN_COUNTER : COLUMN_LEVEL;
    }
    r = sql_reset(statement);
    return r ? r : bad ? refuse_shape(store, -EBADMSG, table->name, "a column's name is none") : 0;
}

/* 1 found, 0 not, negative errno. */
static int load_info(struct store *store, const char *name, struct data_table *table) {
    int r = 0;
    sqlite3_stmt *statement = sql_statement(store, SQL_TABLE_FIND, &r);
    if (!statement)
        return r;
    r = sql_bind(statement, "t", name);
    if (r)
        return r;
    bool bad = false;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        char kind[16];
        table->id = sqlite3_column_int64(statement, 0);
        sql_column_text(statement, 1, table->name, sizeof table->name);
        sql_column_text(statement, 2, table->instance, sizeof table->instance);
        sql_column_text(statement, 3, kind, sizeof kind);
        table->kind = strcmp(kind, "events") == 0 ? TABLE_EVENTS : TABLE_SAMPLES;
        bad = !table_name_valid(table->name, strlen(table->name)) ||
              !table_name_valid(table->instance, strlen(table->instance));
    }
    r = sql_reset(statement);
    if (r || !bad)
        return r ? r : code == SQLITE_ROW;
    return refuse_shape(store, -EBADMSG, "table_info", "a table's name is none");
}

/* Processes: there are many, and most of them wait most of the time. */
static bool rests(const char *table) {
    return strcmp(table, all_tables[TABLE_PROCESS].name) == 0;
}

static struct data_table *table_known(const struct store *store, const char *name) {
    for (size_t i = 0; i < store->n_tables; i++)
        if (strcmp(store->tables[i]->name, name) == 0)
            return store->tables[i];
    return NULL;
}

/* Reads the table again: another writer may have widened it. 1, 0, negative errno. */
int table_load(struct store *store, const char *name, struct data_table **ret_table) {
    struct data_table *table = table_known(store, name);
    if (table) {
        *ret_table = table;
        int r = load_columns(store, table);
        return r < 0 ? r : 1;
    }
    if (store->n_tables == STORE_TABLES_MAX)
        return refuse_shape(store, -E2BIG, name, "the database has 256 tables already");
    table = calloc(1, sizeof *table);
    if (!table)
        return -ENOMEM;
    int r = load_info(store, name, table);
    if (r > 0) {
        int error = load_columns(store, table);
        r = error ? error : 1;
    }
    if (r <= 0) {
        free(table);
        return r;
    }
    table->index = store->n_tables;
    table->rests = rests(name);
    *ret_table = store->tables[store->n_tables++] = table;
    return 1;
}

/* ---- changes ---- */

int table_column(const struct data_table *table, const char *name) {
    for (size_t i = 0; i < table->n_columns; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* Columns that every data table has besides the described ones. */
static bool column_reserved(const char *name) {
    return strcmp(name, "frame") == 0 || strcmp(name, "instance") == 0 || strcmp(name, "n") == 0 ||
           strcmp(name, "interval_ns") == 0;
}

/* Whether the description fits the stored one; *ret_new: number of columns to add. */
static int check_columns(struct store *store, const struct data_table *stored,
                         const struct table *table, size_t *ret_new) {
    size_t n_new = 0;
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct column *column = &table->columns[i];
        int at = stored ? table_column(stored, column->name) : -1;
        if (column_reserved(column->name))
            return refuse_shape(store, -EEXIST, table->name,
                                "a column has a name the store uses itself");
        if (at >= 0 &&
            (stored->columns[at].unit != column->unit || stored->columns[at].kind != column->kind))
            return refuse_shape(store, -EEXIST, table->name,
                                "a column of that name has another unit or kind");
        n_new += at < 0;
    }
    if (stored && stored->kind != table->kind)
        return refuse_shape(store, -EEXIST, table->name, "a table of that name is of another kind");
    if ((stored ? stored->n_columns : 0) + n_new > STORE_COLUMNS_MAX)
        return refuse_shape(store, -E2BIG, table->name, "more than 128 columns");
    *ret_new = n_new;
    return 0;
}

static int check_new_name(struct store *store, const char *name) {
    char view[TABLE_NAME_MAX + 8];
    int64_t found;
    if (strncmp(name, "sqlite_", 7) == 0)
        return refuse_shape(store, -EEXIST, name, "the name is reserved");
    sqlite3_snprintf(sizeof view, view, "%s_rate", name);
    int r = sql_get(store, SQL_OBJECT_EXISTS, &found, "t", name);
    if (!r)
        r = sql_get(store, SQL_OBJECT_EXISTS, &found, "t", view);
    return r > 0
               ? refuse_shape(store, -EEXIST, name, "the database uses the name for something else")
               : r;
}

static int exec_owned(struct store *store, char *sql) {
    int r = sql ? sql_exec(store, sql) : -ENOMEM;
    sqlite3_free(sql);
    return r;
}

static int add_column(struct store *store, struct data_table *table, const struct column *column,
                      bool alter) {
    struct data_column *added = &table->columns[table->n_columns];
    sqlite3_snprintf(sizeof added->name, added->name, "%s", column->name);
    added->unit = column->unit;
    added->kind = column->kind;
    table->n_columns++;
    int r = sql_run(store, SQL_COLUMN_INSERT, "iitttt", table->id, (int64_t)table->n_columns - 1,
                    column->name, unit_text(column->unit), column_kinds[column->kind],
                    column->help ? column->help : "");
    if (!r && alter)
        r = exec_owned(store, sqlite3_mprintf("ALTER TABLE \"%w\" ADD COLUMN \"%w\" INTEGER",
                                              table->name, column->name));
    return r;
}

static int add_columns(struct store *store, struct data_table *stored, const struct table *table,
                       bool alter) {
    int r = 0;
    for (size_t i = 0; !r && i < table->n_columns; i++)
        if (table_column(stored, table->columns[i].name) < 0)
            r = add_column(store, stored, &table->columns[i], alter);
    return r;
}

static int rebuild_view(struct store *store, const struct data_table *table) {
    int r = exec_owned(store, sqlite3_mprintf("DROP VIEW IF EXISTS \"%w_rate\"", table->name));
    return r ? r : exec_owned(store, view_create_sql(table));
}

static int table_create(struct store *store, const struct table *table,
                        struct data_table **ret_table) {
    struct data_table *created = calloc(1, sizeof *created);
    if (!created)
        return -ENOMEM;
    created->kind = table->kind;
    created->rests = rests(table->name);
    sqlite3_snprintf(sizeof created->name, created->name, "%s", table->name);
    sqlite3_snprintf(sizeof created->instance, created->instance, "%s", table->instance);
    int r = sql_run(store, SQL_TABLE_INSERT, "tttt", table->name, table->instance,
                    table_kinds[table->kind], table->help ? table->help : "");
    created->id = sqlite3_last_insert_rowid(store->db);
    if (!r)
        r = add_columns(store, created, table, false);
    if (!r)
        r = exec_owned(store, table_create_sql(created));
    if (!r)
        r = rebuild_view(store, created);
    if (r) {
        free(created);
        return r;
    }
    created->index = store->n_tables;
    *ret_table = store->tables[store->n_tables++] = created;
    return 0;
}

int table_ensure(struct store *store, const struct table *table, struct data_table **ret_table) {
    struct data_table *stored = NULL;
    size_t n_new = 0;
    int r = table_load(store, table->name, &stored);
    if (r < 0)
        return r;
    if (r == 0)
        r = check_new_name(store, table->name);
    else
        r = 0;
    if (!r)
        r = check_columns(store, stored, table, &n_new);
    if (r)
        return r;
    if (!stored)
        return table_create(store, table, ret_table);
    *ret_table = stored;
    if (!n_new)
        return 0;
    r = add_columns(store, stored, table, true);
    return r ? r : rebuild_view(store, stored);
}

static void shape_free(struct shape *shape) {
    batch_free(shape->batch);
    block_rows_free(shape->waiting);
    free(shape);
}

void tables_free(struct store *store) {
    for (size_t i = 0; i < store->n_shapes; i++)
        shape_free(store->shapes[i]);
    free(store->shapes);
    store->shapes = NULL;
    store->n_shapes = 0;
    store->shape_age++;
    for (size_t i = 0; i < store->n_tables; i++)
        free(store->tables[i]);
    store->n_tables = 0;
}
