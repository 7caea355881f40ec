/* SPDX-License-Identifier: MIT */
/* State shared by the ways of reading rows: the table and its instances. */
#ifndef CHOKEPOINT_COLLECTOR_STORE_ROWS_H
#define CHOKEPOINT_COLLECTOR_STORE_ROWS_H

#include "collector/store_block_times.h"
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
    sqlite3_stmt *rows, *instances;      /* owned; rows: as rows_table_select */
};

/* -ENOENT: no such table; -EINVAL: too many columns. Release it also after a failure. */
int rows_table_open(struct store *store, const char *name, const char *const *columns,
                    size_t n_columns, struct rows_table *ret_table);
/* "SELECT d.instance, `second`, interval (of events: the frame), columns"; the caller completes
 * it. */
sqlite3_str *rows_table_select(struct rows_table *table, const char *second);
/* Prepares the completed statement; sql is freed. */
int rows_table_prepare(struct rows_table *table, sqlite3_str *sql);
/* Prepares the rows of run ?1 and stream ?2 in the order of frames; `second` is the frame's time.
 */
int rows_table_prepare_by_stream(struct rows_table *table);
/* Interval and values of the statement's current row. */
void rows_table_fill(const struct rows_table *table, int64_t *ret_interval_ns, int64_t *ret_values);
void rows_table_release(struct rows_table *table);
/* The ordinals of the requested columns in column_info, once rows_table_select has found their
 * names; -1: none. */
int rows_table_ordinals(const struct rows_table *table, int ordinals[READ_COLUMNS_MAX]);

/* ---- blocks of a table, beside its rows (store_read_blocks.c) ---- */

struct rows_blocks {
    const struct rows_table *table; /* borrowed */
    sqlite3_stmt *list;             /* owned; NULL: the file has none */
    int ordinals[READ_COLUMNS_MAX];
    bool left;          /* there is a current block */
    int64_t from_frame; /* of it */
    int64_t stream;
    struct block_times times; /* owned; for samples */
    int64_t *cells;           /* owned: columns of BLOCK_ROWS_MAX or fewer values */
    size_t capacity;          /* rows for which cells have room */
};

/* Once rows_table_select has been called. Release it also after a failure. */
int rows_blocks_open(const struct rows_table *table, struct rows_blocks *ret_blocks);
void rows_blocks_release(struct rows_blocks *blocks);
/* Moves to the stream's first block. Blocks whose first frame is not above that of a row come
 * before the row. Samples come by instance within each block. */
int rows_blocks_begin(struct rows_blocks *blocks, int64_t stream);
/* The current block's instances, times, intervals (of samples), or a requested column; valid until
 * the next block. */
enum { ROWS_INSTANCE, ROWS_TIME, ROWS_INTERVAL, ROWS_VALUES };
static inline const int64_t *rows_blocks_column(const struct rows_blocks *blocks, size_t column) {
    return blocks->cells + column * blocks->capacity;
}
/* Unpacks the current block; the number of its rows, at least 1; -EBADMSG, -ENOMEM. */
int rows_blocks_read(struct rows_blocks *blocks);
/* Moves to the stream's next block. */
int rows_blocks_next(struct rows_blocks *blocks);

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
