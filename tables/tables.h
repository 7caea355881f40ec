/* SPDX-License-Identifier: MIT */
/*
 * The tables of a recording, for writers and readers. A column's ID is its place in its table: an
 * agent fills row->values[PSI_SOME], and analysis, which holds the first PSI_COLUMNS_READ of them,
 * reads the same column by the same number.
 */
#ifndef CHOKEPOINT_TABLES_TABLES_H
#define CHOKEPOINT_TABLES_TABLES_H

#include "common/table.h"

enum table_id {
#define TABLE(ID, name, instance, kind, help) TABLE_##ID,
#include "tables/tables.def"
    TABLES_KNOWN
};

#define TABLE(ID, name, instance, kind, help) enum {
#define COLUMN(ID, name, unit, kind, help) ID,
#define UNREAD(ID) ID##_COLUMNS_READ, ID##_LAST_READ_ = ID##_COLUMNS_READ - 1,
#define END(ID)                                                                                    \
    ID##_COLUMNS                                                                                   \
    }                                                                                              \
    ;
#include "tables/tables.def"

/* Numbers of states in databases. */
enum wait_reason {
#define STATE(ID, number, name, times, what, as_one) WAIT_REASON_##ID = number,
#define PAIR(ID, number, name, what) WAIT_REASON_##ID = number,
#include "tables/wait_states.def"
};

extern const struct table all_tables[TABLES_KNOWN];

#endif
