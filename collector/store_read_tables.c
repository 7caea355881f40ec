/* SPDX-License-Identifier: MIT */
/*
 * Tables as their agents described them, and the rows of their rate views, for exports, which know
 * no table by name. Names from a file become parts of SQL, so invalid names are left out.
 */
#include "collector/store_read_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_private.h"
#include "common/error.h"

#define VIEW_COLUMNS_MAX (STORE_COLUMNS_MAX + 8)

/* ---- the list of tables ---- */

#define TABLE_SELECT                                                                               \
    "SELECT t.table_id, t.name, t.instance, t.kind, t.help FROM table_info t JOIN sqlite_schema s" \
    " ON s.name = t.name AND s.type = 'table' AND s.rootpage > 0 WHERE EXISTS (SELECT 1 FROM host" \
    " h JOIN instance i ON i.host = h.host AND i.table_id = t.table_id WHERE h.run = ?)"           \
    " ORDER BY t.name"

static void table_release(struct store_table_info *table) {
    for (size_t i = 0; i < table->n_columns; i++)
        free(table->columns[i].help);
    free(table->columns);
    free(table->help);
}

void store_tables_free(struct store_table_info *tables, size_t n) {
    for (size_t i = 0; i < n; i++)
        table_release(&tables[i]);
    free(tables);
}

static int append_column(const struct store *store, struct store_table_info *table,
                         sqlite3_stmt *row) {
    struct store_column_info *column = &table->columns[table->n_columns];
    char text[16];
    sql_column_text(row, 0, column->name, sizeof column->name);
    if (table->n_columns == STORE_COLUMNS_MAX ||
        sql_has_column(store, table->name, column->name) <= 0)
        return 0;
    sql_column_text(row, 1, text, sizeof text);
    column->unit = unit_from_text(text);
    sql_column_text(row, 2, text, sizeof text);
    column->kind = strcmp(text, "counter") == 0 ? COLUMN_COUNTER : COLUMN_LEVEL;
    column->help = sql_column_dup(row, 3, TABLE_HELP_MAX);
    table->n_columns += column->help != NULL;
    return column->help ? 0 : -ENOMEM;
}

static int read_columns(struct store *store, int64_t id, struct store_table_info *table) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    table->columns = calloc(STORE_COLUMNS_MAX + 1, sizeof *table->columns);
    if (!table->columns)
        return -ENOMEM;
    int r = sql_prepare(store,
                        "SELECT name, unit, kind, help FROM column_info WHERE table_id = ?"
                        " ORDER BY ordinal",
                        &statement);
    int code = SQLITE_DONE;
    if (!r)
        r = sql_bind(statement, "i", id);
    while (!r && (code = sqlite3_step(statement)) == SQLITE_ROW)
        r = append_column(store, table, statement);
    return r ? r : sql_errno(code);
}

int store_count_instances(struct store *store, int64_t run, const char *table, uint64_t *ret_n) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int r = sql_prepare(store,
                        "SELECT count(*) FROM host h JOIN instance i ON i.host = h.host"
                        " JOIN table_info t ON t.table_id = i.table_id"
                        " WHERE h.run = ? AND t.name = ?",
                        &statement);
    if (!r)
        r = sql_bind(statement, "it", run, table);
    int code = r ? SQLITE_DONE : sqlite3_step(statement);
    if (code != SQLITE_ROW)
        return r ? r : sql_errno(code);
    *ret_n = (uint64_t)sqlite3_column_int64(statement, 0);
    return 0;
}

static int load_table(struct store *store, sqlite3_stmt *row, struct store_table_info *table) {
    char kind[16];
    *table = (struct store_table_info){.help = sql_column_dup(row, 4, TABLE_HELP_MAX)};
    sql_column_text(row, 1, table->name, sizeof table->name);
    sql_column_text(row, 2, table->instance, sizeof table->instance);
    sql_column_text(row, 3, kind, sizeof kind);
    table->kind = strcmp(kind, "events") == 0 ? TABLE_EVENTS : TABLE_SAMPLES;
    if (!table->help)
        return -ENOMEM;
    if (!table_name_valid(table->name, strlen(table->name)) ||
        !table_name_valid(table->instance, strlen(table->instance)))
        return 0;
    return read_columns(store, sql_column(row, 0), table);
}

int store_list_tables(struct store *store, int64_t run, struct store_table_info **ret_tables,
                      size_t *ret_n) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    struct store_table_info *tables = calloc(STORE_TABLES_MAX, sizeof *tables);
    size_t n = 0;
    int code = SQLITE_DONE, r = tables ? sql_prepare(store, TABLE_SELECT, &statement) : -ENOMEM;
    if (!r)
        r = sql_bind(statement, "i", run);
    while (!r && n < STORE_TABLES_MAX && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        r = load_table(store, statement, &tables[n]);
        if (r || !tables[n].n_columns)
            table_release(&tables[n]);
        else
            n++;
    }
    r = r ? r : sql_errno(code);
    if (r) {
        store_tables_free(tables, n);
        return r;
    }
    *ret_tables = tables;
    *ret_n = n;
    return 0;
}

/* ---- a view ---- */

/* Copies a cell's text, to clean it; a view has few text cells: host, instance. */
static void fill_cell(sqlite3_stmt *row, int column, struct store_cell *cell,
                      char text[INSTANCE_MAX + 1]) {
    *cell = (struct store_cell){.kind = STORE_CELL_NULL};
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
        cell->kind = STORE_CELL_INTEGER;
        cell->integer = sqlite3_column_int64(row, column);
        break;
    case SQLITE_FLOAT:
        cell->kind = STORE_CELL_REAL;
        cell->real = sqlite3_column_double(row, column);
        break;
    case SQLITE_TEXT:
        sql_column_text(row, column, text, INSTANCE_MAX + 1);
        cell->kind = STORE_CELL_TEXT;
        cell->text = text;
        break;
    default:
        break;
    }
}

struct view_row {
    const char *names[VIEW_COLUMNS_MAX];
    struct store_cell cells[VIEW_COLUMNS_MAX];
    char texts[VIEW_COLUMNS_MAX][INSTANCE_MAX + 1];
};

static int read_view(sqlite3_stmt *statement, struct view_row *row,
                     const struct store_view_reader *reader) {
    int n = sqlite3_column_count(statement), code = SQLITE_DONE;
    if (n > VIEW_COLUMNS_MAX)
        return -E2BIG;
    for (int i = 0; i < n; i++)
        row->names[i] = sqlite3_column_name(statement, i);
    int r = reader->header(reader->ctx, row->names, (size_t)n);
    while (r >= 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < n; i++)
            fill_cell(statement, i, &row->cells[i], row->texts[i]);
        r = reader->row(reader->ctx, row->cells, (size_t)n);
    }
    return r < 0 ? r : sql_errno(code);
}

/* Selects the rows of the table's view without using the stored view, which in a foreign file could
 * be any query. Its columns begin with run, host, instance, time (store_view.c); events have their
 * number next. */
static int prepare_view(struct store *store, int64_t run, const char *name,
                        sqlite3_stmt **ret_statement) {
    struct data_table *table;
    char shown[STORE_SHOWN_SIZE];
    int r = table_load(store, name, &table);
    if (r <= 0)
        return r ? r : -ENOENT;
    bool in_blocks = table->kind == TABLE_EVENTS;
    r = in_blocks ? 0 : blocks_exist(store, table->id, &in_blocks);
    if (!r && in_blocks)
        r = store_show_events(store, name, shown);
    if (!r)
        r = sql_prepare_made(store, view_select_sql(table, in_blocks ? shown : table->name),
                             ret_statement);
    return r ? r : sql_bind(*ret_statement, "i", run);
}

static bool is_table_of(struct store *store, int64_t run, const char *table, int *ret_error) {
    struct store_table_info *tables = NULL;
    size_t n = 0;
    bool found = false;
    *ret_error = store_list_tables(store, run, &tables, &n);
    for (size_t i = 0; i < n && !found; i++)
        found = strcmp(tables[i].name, table) == 0;
    store_tables_free(tables, n);
    return found;
}

int store_read_view(struct store *store, int64_t run, const char *table,
                    const struct store_view_reader *reader) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int r;
    if (!is_table_of(store, run, table, &r))
        return r ? r : -ENOENT;
    r = prepare_view(store, run, table, &statement);
    if (r)
        return r;
    struct view_row *row = malloc(sizeof *row);
    r = row ? read_view(statement, row, reader) : -ENOMEM;
    free(row);
    return r;
}
