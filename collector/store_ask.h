/* SPDX-License-Identifier: MIT */
/*
 * Questions in SQL of somebody outside, to a database that may come from somebody else: one SELECT
 * at a time, over the tables and views of the file, with limits of time, memory and rows. It
 * changes nothing, attaches nothing, loads nothing, and calls only functions that compute.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_ASK_H
#define CHOKEPOINT_COLLECTOR_STORE_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

#define ASK_COLUMNS_MAX 100
#define ASK_SQL_MAX 20000 /* bytes of a question */

enum ask_kind { ASK_NULL, ASK_INTEGER, ASK_REAL, ASK_TEXT, ASK_BYTES };

struct ask_cell {
    enum ask_kind kind;
    int64_t integer; /* of bytes: how many there are; they are not shown */
    double real;
    const char *text; /* printable; for the time of the call */
};

struct ask {
    const char *sql;
    int64_t limit_ns; /* of work */
    /* The names of the columns, once, before the first row. */
    void (*columns)(void *ctx, const char *const *names, size_t n);
    /* A row; true: that is enough. */
    bool (*row)(void *ctx, const struct ask_cell *cells, size_t n);
    void *ctx;
};

/* Asks a store that was opened for this alone: it takes no other reading afterwards. 0, or a
 * negative errno with one line in `why`: -EPERM it asks for more than reading, -EINVAL it is no
 * good SQL, -ETIME it took too long, -ENOMEM, -EBADMSG damage. Rows may have come before that. */
int store_ask(struct store *store, const struct ask *ask, char *why, size_t size);

#endif
