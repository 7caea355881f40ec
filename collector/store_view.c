/* SPDX-License-Identifier: MIT */
/*
 * The SQL that follows from a table's descriptor: the data table, the insert, and the view for
 * people, which turns growth into percent and events a second.
 */
#include "collector/store_private.h"

#include <string.h>

char *table_create_sql(const struct data_table *table) {
    bool events = table->kind == TABLE_EVENTS;
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql,
                        "CREATE TABLE \"%w\"(frame INTEGER NOT NULL, instance INTEGER NOT NULL, "
                        "%s",
                        table->name, events ? "n INTEGER NOT NULL" : "interval_ns INTEGER");
    for (size_t i = 0; i < table->n_columns; i++)
        sqlite3_str_appendf(sql, ", \"%w\" INTEGER", table->columns[i].name);
    sqlite3_str_appendf(sql, ", PRIMARY KEY(frame, instance%s)) STRICT, WITHOUT ROWID",
                        events ? ", n" : "");
    return sqlite3_str_finish(sql);
}

char *table_insert_sql(const struct data_table *table, const struct shape *shape, size_t n_rows) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "INSERT INTO \"%w\"(frame, instance, %s", table->name,
                        table->kind == TABLE_EVENTS ? "n" : "interval_ns");
    for (size_t i = 0; i < shape->n_columns; i++)
        sqlite3_str_appendf(sql, ", \"%w\"", table->columns[shape->ordinals[i]].name);
    sqlite3_str_appendf(sql, ") VALUES");
    for (size_t row = 0; row < n_rows; row++) {
        sqlite3_str_appendf(sql, row ? ", (?, ?, ?" : "(?, ?, ?");
        for (size_t i = 0; i < shape->n_columns; i++)
            sqlite3_str_appendf(sql, ", ?");
        sqlite3_str_appendf(sql, ")");
    }
    return sqlite3_str_finish(sql);
}

/* Length of the name without its suffix, or the whole length if it has none. */
static int stem(const char *name, const char *suffix) {
    size_t n = strlen(name), m = strlen(suffix);
    return (int)(n > m && strcmp(name + n - m, suffix) == 0 ? n - m : n);
}

static void put_counter(sqlite3_str *sql, const struct data_column *column) {
    const char *name = column->name;
    if (column->unit == UNIT_NS)
        sqlite3_str_appendf(sql, ", 100.0 * d.\"%w\" / d.interval_ns AS \"%.*s_pct\"", name,
                            stem(name, "_ns"), name);
    else if (column->unit == UNIT_NANO)
        sqlite3_str_appendf(sql, ", 1.0 * d.\"%w\" / d.interval_ns AS \"%.*s_per_s\"", name,
                            stem(name, "_nano"), name);
    else
        sqlite3_str_appendf(sql, ", 1e9 * d.\"%w\" / d.interval_ns AS \"%w_per_s\"", name, name);
}

static void put_level(sqlite3_str *sql, const struct data_column *column) {
    const char *name = column->name;
    if (column->unit == UNIT_NANO)
        sqlite3_str_appendf(sql, ", d.\"%w\" / 1e9 AS \"%.*s\"", name, stem(name, "_nano"), name);
    else
        sqlite3_str_appendf(sql, ", d.\"%w\" AS \"%w\"", name, name);
}

/* rows: the table that has them, which may be a virtual one. */
static void put_select(sqlite3_str *sql, const struct data_table *table, const char *rows) {
    bool events = table->kind == TABLE_EVENTS;
    sqlite3_str_appendf(
        sql,
        "SELECT r.run AS run, h.name AS host, i.name AS \"%w\","
        " (f.mono_ns + " CLOCK_OFFSET_SQL("f.mono_ns") " - r.started_mono_ns) / 1e9 AS time_s",
        table->instance);
    sqlite3_str_appendf(sql, events ? ", d.n AS n" : ", d.interval_ns / 1e9 AS interval_s");
    for (size_t i = 0; i < table->n_columns; i++) {
        if (!events && table->columns[i].kind == COLUMN_COUNTER)
            put_counter(sql, &table->columns[i]);
        else
            put_level(sql, &table->columns[i]);
    }
    sqlite3_str_appendf(sql,
                        " FROM run r JOIN host h ON h.run = r.run JOIN stream s ON s.host = h.host"
                        " JOIN frame f ON f.stream = s.stream JOIN \"%w\" d ON d.frame = f.frame"
                        " JOIN instance i ON i.instance = d.instance",
                        rows);
}

char *view_create_sql(const struct data_table *table) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "CREATE VIEW \"%w_rate\" AS ", table->name);
    put_select(sql, table, table->name);
    return sqlite3_str_finish(sql);
}

char *view_select_sql(const struct data_table *table, const char *rows) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    put_select(sql, table, rows);
    sqlite3_str_appendf(sql, " WHERE r.run = ? ORDER BY 2, 4, 3, 5");
    return sqlite3_str_finish(sql);
}
