/* SPDX-License-Identifier: MIT */
#include "collector/store_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "tables/former_names.h"

#define READ_INSTANCES_MAX (1u << 20) /* of one host and table */

/* ---- the table ---- */

static int find_table(struct rows_table *table) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    char kind[16];
    int r = sql_prepare(table->store,
                        "SELECT t.table_id, t.kind FROM table_info t JOIN sqlite_schema s"
                        " ON s.name = t.name AND s.type = 'table' AND s.rootpage > 0"
                        " WHERE t.name = ?",
                        &statement);
    if (!r)
        r = sql_bind(statement, "t", table->name);
    if (r)
        return r;
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW)
        return code == SQLITE_DONE ? -ENOENT : sql_errno(code);
    table->id = sqlite3_column_int64(statement, 0);
    sql_column_text(statement, 1, kind, sizeof kind);
    table->events = strcmp(kind, "events") == 0;
    return sql_reset(statement);
}

int rows_table_open(struct store *store, const char *name, const char *const *columns,
                    size_t n_columns, struct rows_table *ret_table) {
    *ret_table = (struct rows_table){
        .store = store, .name = name, .columns = columns, .n_columns = n_columns};
    if (n_columns > READ_COLUMNS_MAX)
        return -EINVAL;
    int r = find_table(ret_table);
    if (!r)
        r = sql_prepare(store,
                        "SELECT instance, name FROM instance WHERE host = ? AND table_id = ?",
                        &ret_table->instances);
    return r ? r : sql_errno(sqlite3_bind_int64(ret_table->instances, 2, ret_table->id));
}

/* The name that the file has for a column, which may be a former one; NULL: it lacks the column. */
static const char *name_in_file(struct rows_table *table, const char *column) {
    const char *name = column;
    int has;
    for (size_t n = 0; name && (has = sql_has_column(table->store, table->name, name)) <= 0; n++) {
        table->error = has < 0 ? has : table->error;
        name = former_name(table->name, column, n);
    }
    return name;
}

sqlite3_str *rows_table_select(struct rows_table *table, const char *second) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    int at = 3; /* columns 0 to 2: instance, `second`, interval or frame */
    sqlite3_str_appendf(sql, "SELECT d.instance, %s, %s", second,
                        table->events ? "d.frame" : "d.interval_ns");
    for (size_t i = 0; i < table->n_columns; i++) {
        const char *name = table->names[i] = name_in_file(table, table->columns[i]);
        table->at[i] = name ? at++ : -1;
        if (name)
            sqlite3_str_appendf(sql, ", d.\"%w\"", name);
    }
    return sql;
}

int rows_table_prepare(struct rows_table *table, sqlite3_str *sql) {
    int r = sql_prepare_made(table->store, sqlite3_str_finish(sql), &table->rows);
    return table->error ? table->error : r;
}

int rows_table_prepare_by_stream(struct rows_table *table) {
    sqlite3_str *sql = rows_table_select(table, "f.mono_ns");
    sqlite3_str_appendf(sql,
                        " FROM run r CROSS JOIN stream s CROSS JOIN frame f ON f.stream = s.stream"
                        " CROSS JOIN \"%w\" d ON d.frame = f.frame WHERE r.run = ? AND s.stream = ?"
                        " ORDER BY f.frame, d.instance%s",
                        table->name, table->events ? ", d.n" : "");
    return rows_table_prepare(table, sql);
}

void rows_table_fill(const struct rows_table *table, int64_t *ret_interval_ns,
                     int64_t *ret_values) {
    int64_t interval = table->events ? VALUE_ABSENT : sql_column(table->rows, 2);
    *ret_interval_ns = interval > 0 ? interval : VALUE_ABSENT;
    for (size_t i = 0; i < table->n_columns; i++)
        ret_values[i] = table->at[i] < 0 ? VALUE_ABSENT : sql_column(table->rows, table->at[i]);
}

void rows_table_release(struct rows_table *table) {
    sqlite3_finalize(table->rows);
    sqlite3_finalize(table->instances);
}

int rows_table_ordinals(const struct rows_table *table, int ordinals[READ_COLUMNS_MAX]) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int r =
        sql_prepare(table->store, "SELECT ordinal FROM column_info WHERE table_id = ? AND name = ?",
                    &statement);
    for (size_t i = 0; !r && i < table->n_columns; i++) {
        r = sql_bind(statement, "it", table->id, table->names[i]);
        int code = r ? SQLITE_DONE : sqlite3_step(statement);
        int64_t ordinal = code == SQLITE_ROW ? sql_column(statement, 0) : VALUE_ABSENT;
        if (!r && code != SQLITE_ROW)
            r = sql_errno(code); /* 0 for a column that is missing */
        bool valid = ordinal >= 0 && ordinal < STORE_COLUMNS_MAX && table->at[i] >= 0;
        ordinals[i] = valid ? (int)ordinal : -1;
        sqlite3_reset(statement);
    }
    return r;
}

/* ---- its instances ---- */

void instances_clear(struct instances_read *instances) {
    for (size_t i = 0; i < instances->n; i++)
        free(instances->items[i].name);
    instances->n = 0;
}

void instances_release(struct instances_read *instances) {
    instances_clear(instances);
    free(instances->items);
}

static int add_instance(struct instances_read *instances, sqlite3_stmt *row) {
    if (instances->n == instances->capacity) {
        size_t capacity = instances->capacity ? 2 * instances->capacity : 16;
        struct instance_read *items = realloc(instances->items, capacity * sizeof *items);
        if (!items)
            return -ENOMEM;
        instances->items = items;
        instances->capacity = capacity;
    }
    struct instance_read item = {.id = sqlite3_column_int64(row, 0),
                                 .name = sql_column_dup(row, 1, INSTANCE_MAX),
                                 .last_t_ns = INT64_MIN};
    if (!item.name)
        return -ENOMEM;
    instances->items[instances->n++] = item;
    return 0;
}

static int compare_instance_id(const void *key, const void *item) {
    int64_t id = *(const int64_t *)key, other = ((const struct instance_read *)item)->id;
    return (id > other) - (id < other);
}

static int compare_instances(const void *a, const void *b) {
    return compare_instance_id(&((const struct instance_read *)a)->id, b);
}

/* Sorted here: SQLite would sort all instances before it returns the first. */
int instances_load(const struct rows_table *table, int64_t host, struct instances_read *instances) {
    sqlite3_stmt *statement = table->instances;
    size_t begin = instances->n;
    int code = SQLITE_DONE, r = sql_bind(statement, "i", host);
    while (!r && (code = sqlite3_step(statement)) == SQLITE_ROW)
        r = instances->n - begin < READ_INSTANCES_MAX ? add_instance(instances, statement) : -E2BIG;
    sqlite3_reset(statement);
    if (instances->n > begin)
        qsort(instances->items + begin, instances->n - begin, sizeof *instances->items,
              compare_instances);
    return r ? r : sql_errno(code);
}

struct instance_read *instances_find(const struct instances_read *instances, size_t begin,
                                     size_t end, int64_t id, size_t guess) {
    if (guess < end && instances->items[guess].id == id)
        return &instances->items[guess];
    if (begin == end)
        return NULL;
    return bsearch(&id, instances->items + begin, end - begin, sizeof *instances->items,
                   compare_instance_id);
}
