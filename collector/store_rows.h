/* SPDX-License-Identifier: MIT */
/* State that the ways of reading rows share: the table that is read, and its instances. */
#ifndef CHOKEPOINT_COLLECTOR_STORE_ROWS_H
#define CHOKEPOINT_COLLECTOR_STORE_ROWS_H

#include "collector/store_private.h"

#define READ_COLUMNS_MAX 128

/* A data table and the columns of it that are wanted. */
struct rows_table {
    struct store *store;
    int64_t id;
    const char *name; /* the caller's, as are the columns */
    bool events;
    const char *const *columns;
    size_t n_columns;
    int error;                      /* why columns could not be looked for */
    int at[READ_COLUMNS_MAX];       /* where they are in the statement, -1 nowhere */
    sqlite3_stmt *rows, *instances; /* owned; columns of rows: instance, what the reader asks for,
                                       interval, columns */
};

/* -ENOENT: no such table; -EINVAL: too many columns. On failure, too, it wants a release. */
int rows_table_open(struct store *store, const char *name, const char *const *columns,
                    size_t n_columns, struct rows_table *ret_table);
/* "SELECT d.instance, `second`, interval, columns", to be finished by the caller. */
sqlite3_str *rows_table_select(struct rows_table *table, const char *second);
/* Prepares that; sql is freed. */
int rows_table_prepare(struct rows_table *table, sqlite3_str *sql);
/* Interval and values of the row the statement is at. */
void rows_table_fill(const struct rows_table *table, int64_t *ret_interval_ns, int64_t *ret_values);
void rows_table_release(struct rows_table *table);

struct instance_read {
    int64_t id;
    char *name;     /* owned */
    size_t n, next; /* rows, and where the next of them goes */
    size_t stream;  /* of the row read last, as the reader counts them */
    int64_t last_t_ns;
};

struct instances_read {
    struct instance_read *items; /* owned */
    size_t n, capacity;
};

/* Adds those of a host behind the others, in the order of their ids. -E2BIG: a damaged index may
 * have no end. */
int instances_load(const struct rows_table *table, int64_t host, struct instances_read *instances);
/* Among those from begin to end; the one at `guess` is tried first. NULL: there is none. */
struct instance_read *instances_find(const struct instances_read *instances, size_t begin,
                                     size_t end, int64_t id, size_t guess);
void instances_clear(struct instances_read *instances);
void instances_release(struct instances_read *instances);

#endif
