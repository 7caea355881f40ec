/* SPDX-License-Identifier: MIT */
/*
 * Prints all tables, also those that this kernel has no source for: the page must be the same on
 * every machine. docs/metrics.md and man/chokepoint-metrics.7 are this output, and a test compares
 * them.
 */
#include "agent/tables.h"

#include <errno.h>

#include "tables/tables.h"

static const char *kind_text(const struct table *table, const struct column *column) {
    if (table->kind == TABLE_EVENTS)
        return "event";
    return column->kind == COLUMN_COUNTER ? "counter" : "level";
}

static void print_table(const struct table *table, FILE *out) {
    fprintf(out, "\n## %s (%s%s)\n\n%s\n\n", table->name, table->instance,
            table->kind == TABLE_EVENTS ? "; events" : "", table->help);
    fputs("| column | unit | kind | meaning |\n|---|---|---|---|\n", out);
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct column *column = &table->columns[i];
        fprintf(out, "| `%s` | %s | %s | %s |\n", column->name, unit_text(column->unit),
                kind_text(table, column), column->help);
    }
}

int tables_print(FILE *out) {
    for (size_t i = 0; i < TABLES_KNOWN; i++)
        print_table(&all_tables[i], out);
    return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}
