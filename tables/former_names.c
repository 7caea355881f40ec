/* SPDX-License-Identifier: MIT */
#include "tables/former_names.h"

#include <string.h>

#include "tables/tables.h"

#ifndef FORMER_NAMES /* tests define their own list */
#define FORMER_NAMES "tables/former_names.def"
#endif

static const struct {
    enum table_id table;
    int column;
    const char *name;
} list[] = {
#define FORMER(ID, column, name) {TABLE_##ID, column, name},
#include FORMER_NAMES
    {TABLES_KNOWN, 0, NULL}};

const char *former_name(const char *table, const char *column, size_t n) {
    for (size_t i = 0; list[i].name; i++) {
        const struct table *its = &all_tables[list[i].table];
        if (strcmp(its->name, table) == 0 &&
            strcmp(its->columns[list[i].column].name, column) == 0 && n-- == 0)
            return list[i].name;
    }
    return NULL;
}

static const struct table *find_table(const char *name) {
    for (size_t i = 0; i < TABLES_KNOWN; i++)
        if (strcmp(all_tables[i].name, name) == 0)
            return &all_tables[i];
    return NULL;
}

bool column_is_known(const char *table, const char *column) {
    const struct table *its = find_table(table);
    if (!its)
        return false;
    bool known = table_find_column(its, column) >= 0;
    for (size_t i = 0; list[i].name && !known; i++)
        known = &all_tables[list[i].table] == its && strcmp(list[i].name, column) == 0;
    return known;
}
