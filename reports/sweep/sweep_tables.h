/* SPDX-License-Identifier: MIT */
/*
 * The tables of a sweep as text, which each format only draws. Row 0 holds the titles of the
 * columns, column 0 those of the rows.
 *
 * To compare a published table, sweep_tables_put_beside() puts its figures into rows below ours,
 * found by the words of row and column. A published figure that ours lacks gets its own row at the
 * end.
 */
#ifndef CHOKEPOINT_REPORTS_SWEEP_TABLES_H
#define CHOKEPOINT_REPORTS_SWEEP_TABLES_H

#include "reports/sweep/sweep.h"

struct sweep_table {
    const char *id; /* "grid", "hosts", ...; for a grid `of` is the measure's name */
    char *of;       /* owned; "" */
    char *title;    /* owned */
    size_t rows, columns;
    char **cells; /* owned texts; NULL: empty */
    bool *beside; /* owned: this row holds published figures */
    size_t drawn; /* a column drawn with characters of fixed width; 0: none */
};

struct sweep_tables {
    struct sweep_table *items; /* owned */
    size_t n;
};

/* Kinds of tables: grid, means, verdicts, hosts, phases, differences, job, peaks, roles, operators,
 * timeline, arithmetic, pace, curves. */
bool sweep_is_table(const char *word);
extern const char sweep_table_words[];

/* Adds the tables of one kind. hosts_max: hosts of a cell in tables by host; 0: all. -EINVAL for a
 * word that is no kind; -ENOMEM. Adds nothing if nothing is known.
 */
int sweep_tables_add(struct sweep_tables *tables, const struct sweep *sweep, const char *kind,
                     size_t hosts_max);
void sweep_tables_free(struct sweep_tables *tables);

/* The label of a row of published figures. */
#define SWEEP_BESIDE "  reference"

/* Puts text below the cell at that row and column in each table of that kind (and, for a grid, of
 * that measure); nothing if there is no such cell. A row whose words begin with SWEEP_BESIDE is one
 * that ours lacks: it is added at the end, once. -ENOMEM.
 */
int sweep_tables_put_beside(struct sweep_tables *tables, const char *id, const char *of,
                            const char *row, const char *column, const char *text);

/* ---- for the builders of tables ---- */

/* Adds an empty table. NULL without memory. */
struct sweep_table *sweep_table_new(struct sweep_tables *tables, const char *id, const char *of,
                                    size_t rows, size_t columns, const char *title, ...)
    __attribute__((format(printf, 6, 7)));
/* 0, or -ENOMEM. */
int sweep_table_set(struct sweep_table *table, size_t row, size_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int sweep_table_number(struct sweep_table *table, size_t row, size_t column, double value);

int sweep_tables_add_runs(struct sweep_tables *tables, const struct sweep *sweep, const char *kind,
                          size_t hosts_max);

#endif
