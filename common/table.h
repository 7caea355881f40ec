/* SPDX-License-Identifier: MIT */
/*
 * A table: the const descriptor that determines the wire form, the SQLite table, its rate view, its
 * part of the manual and every export. Values are 64-bit integers in base units; a table has no
 * percentages and no rates.
 */
#ifndef CHOKEPOINT_COMMON_TABLE_H
#define CHOKEPOINT_COMMON_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum unit {
    UNIT_NONE,   /* a plain number: an id, a rank, a state */
    UNIT_NS,     /* nanoseconds */
    UNIT_BYTES,  /* bytes; pages are counted in bytes, too */
    UNIT_EVENTS, /* a count of things that happened or exist */
    UNIT_NANO,   /* a fraction or real number times 1e9: accuracy, loss, load */
    UNIT_COUNT_  /* how many units there are; not a unit */
};

enum column_kind {
    COLUMN_COUNTER, /* a growing value; a step back is a reset, handled where rows are stored */
    COLUMN_LEVEL,   /* a state at the instant of the frame */
    COLUMN_COUNT_
};

enum table_kind {
    TABLE_SAMPLES, /* at most one row for each instance in a frame */
    TABLE_EVENTS,  /* any number of rows; its columns are levels of each event */
    TABLE_COUNT_
};

/* Limits of encoder and decoder. Names are [a-z][a-z0-9_]*. */
#define TABLE_NAME_MAX 31
#define TABLE_HELP_MAX 159
#define TABLE_COLUMNS_MAX 64
#define TABLES_MAX 64
#define INSTANCE_MAX 95
#define FRAME_ROWS_MAX 65536

/* An unknown value: stored as NULL, skipped in every mean. */
#define VALUE_ABSENT INT64_MIN

struct column {
    const char *name; /* with its unit, if it has one: user_ns, send_bytes, reads */
    enum unit unit;
    enum column_kind kind;
    const char *help; /* one line */
};

struct table {
    const char *name;
    const char *instance; /* what an instance is, one word: core, disk, interface, process */
    const char *help;
    enum table_kind kind;
    const struct column *columns;
    size_t n_columns;
};

/* Short name of a unit for people and for the wire: "", "ns", "bytes", "events", "1e-9". */
const char *unit_text(enum unit unit);

/* Whether the text is a legal table or column name: [a-z][a-z0-9_]*, at most TABLE_NAME_MAX
 * bytes. */
bool table_name_valid(const char *text, size_t size);

/* Whether the bytes can be an instance or host name: 1..INSTANCE_MAX bytes, no NUL, no control
 * characters, valid UTF-8. */
bool instance_name_valid(const char *text, size_t size);

/* Index of the column of that name, or -1. */
int table_find_column(const struct table *table, const char *name);

#endif
