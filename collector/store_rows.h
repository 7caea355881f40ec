/* SPDX-License-Identifier: MIT */
/* State shared by the ways of reading rows: the table and its instances. */
#ifndef CHOKEPOINT_COLLECTOR_STORE_ROWS_H
#define CHOKEPOINT_COLLECTOR_STORE_ROWS_H

#include "collector/store_private.h"

#define READ_COLUMNS_MAX 128

/* A data table and its requested columns. */
struct rows_table {
    struct store *store;
    int64_t id;
    const char *name; /* borrowed, like the columns */
    bool events;
    const char *const *columns;
    size_t n_columns;
    int error;                           /* errno of a failed search for columns */
    int at[READ_COLUMNS_MAX];            /* positions in the statement; -1: none */
    const char *names[READ_COLUMNS_MAX]; /* the file's names of them; NULL: none */
    sqlite3_stmt *rows, *instances;      /* owned; rows: instance, `second`, interval, columns */
};

/* -ENOENT: no such table; -EINVAL: too many columns. Release it also after a failure. */
int rows_table_open(struct store *store, const char *name, const char *const *columns,
                    size_t n_columns, struct rows_table *ret_table);
/* "SELECT d.instance, `second`, interval, columns"; the caller completes it. */
sqlite3_str *rows_table_select(struct rows_table *table, const char *second);
/* Prepares the completed statement; sql is freed. */
int rows_table_prepare(struct rows_table *table, sqlite3_str *sql);
/* Interval and values of the statement's current row. */
void rows_table_fill(const struct rows_table *table, int64_t *ret_interval_ns, int64_t *ret_values);
void rows_table_release(struct rows_table *table);

struct instance_read {
    int64_t id;
    char *name;     /* owned */
    size_t n, next; /* number of rows, and position of the next one */
    size_t stream;  /* stream of the last row read, by the reader's number */
    int64_t last_t_ns;
};

struct instances_read {
    struct instance_read *items; /* owned */
    size_t n, capacity;
};

/* Appends the instances of a host in the order of their ids. -E2BIG: a damaged index may have no
 * end. */
int instances_load(const struct rows_table *table, int64_t host, struct instances_read *instances);
/* Finds an instance between begin and end; the one at `guess` is tried first. NULL: there is
 * none. */
struct instance_read *instances_find(const struct instances_read *instances, size_t begin,
                                     size_t end, int64_t id, size_t guess);
void instances_clear(struct instances_read *instances);
void instances_release(struct instances_read *instances);

#endif
