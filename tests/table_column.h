/* SPDX-License-Identifier: MIT */
/* Finds columns of a table by name, for tests. */
#ifndef CHOKEPOINT_TESTS_TABLE_COLUMN_H
#define CHOKEPOINT_TESTS_TABLE_COLUMN_H

#include <string.h>

#include "common/table.h"

/* Index of the column, or -1. */
static inline int table_find_column(const struct table *table, const char *name) {
    for (size_t i = 0; i < table->n_columns; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

#endif
