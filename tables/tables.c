/* SPDX-License-Identifier: MIT */
#include "tables/tables.h"

static const char wait_reasons[] = "for what it waited:"
#define BLOCKED_ON_PEER(ID, number, name, what) " " #number " " name ","
#define PAIR(ID, number, name, what) " " #number " " what
#include "tables/wait_states.def"
    ;

#define TABLE(ID, name, instance, kind, help) static const struct column columns_of_##ID[] = {
#define COLUMN(ID, name, unit, kind, help) [ID] = {name, UNIT_##unit, COLUMN_##kind, help},
#define END(ID)                                                                                    \
    }                                                                                              \
    ;
#include "tables/tables.def"

const struct table all_tables[TABLES_KNOWN] = {
#define TABLE(ID, name, instance, kind, help)                                                      \
    [TABLE_##ID] = {name, instance, help, TABLE_##kind, columns_of_##ID, ID##_COLUMNS},
#include "tables/tables.def"
};
