/* SPDX-License-Identifier: MIT */
/* Reads the store for exports: without knowing tables by name, and without keeping rows. */
#ifndef CHOKEPOINT_COLLECTOR_STORE_READ_TABLES_H
#define CHOKEPOINT_COLLECTOR_STORE_READ_TABLES_H

#include "collector/store_read.h"

/* As store_each_row, in another order and without keeping rows: by host, frame, instance and
 * number. For tables of events too long for memory. */
int store_each_row_as_stored(struct store *store, int64_t run, const char *table,
                             const char *const *columns, size_t n_columns,
                             int (*each)(void *ctx, const struct store_row_read *row), void *ctx);

/* ---- tables as their agents described them ---- */

struct store_column_info {
    char name[TABLE_NAME_MAX + 1];
    enum unit unit;
    enum column_kind kind;
    char *help; /* owned */
};

struct store_table_info {
    char name[TABLE_NAME_MAX + 1];
    char instance[TABLE_NAME_MAX + 1]; /* what an instance is, in one word */
    enum table_kind kind;
    char *help;                        /* owned */
    struct store_column_info *columns; /* owned; at least one column */
    size_t n_columns;
};

/* The tables of which a run has rows, by name. */
int store_list_tables(struct store *store, int64_t run, struct store_table_info **ret_tables,
                      size_t *ret_n);
/* Number of instances of a table, over all hosts of a run; 0 if the table is missing. */
int store_count_instances(struct store *store, int64_t run, const char *table, uint64_t *ret_n);
void store_tables_free(struct store_table_info *tables, size_t n);

enum store_cell_kind { STORE_CELL_NULL, STORE_CELL_INTEGER, STORE_CELL_REAL, STORE_CELL_TEXT };

struct store_cell {
    enum store_cell_kind kind;
    int64_t integer;
    double real;
    const char *text; /* printable UTF-8; valid during the call only */
};

struct store_view_reader {
    /* A negative return ends the reading and is passed on. */
    int (*header)(void *ctx, const char *const *names, size_t n);
    int (*row)(void *ctx, const struct store_cell *cells, size_t n);
    void *ctx;
};

/* Reads the rate view of a table of a run: hosts and instances by name, ordered by host, time,
 * instance. -ENOENT if the table is missing. */
int store_read_view(struct store *store, int64_t run, const char *table,
                    const struct store_view_reader *reader);

#endif
