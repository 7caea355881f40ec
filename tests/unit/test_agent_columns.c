/* SPDX-License-Identifier: MIT */
/*
 * Units of the columns of all tables of the agent, and which of them grow. A name says its unit by
 * its ending; the whole list is in golden/agent-columns.txt, since readers of recordings
 * rely on it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables/tables.h"
#include "tests/unit/golden.h"

static const char *const units[] = {[UNIT_NONE] = "-",
                                    [UNIT_NS] = "ns",
                                    [UNIT_BYTES] = "bytes",
                                    [UNIT_EVENTS] = "events",
                                    [UNIT_NANO] = "nano"};

static void put_table(FILE *out, const struct table *table) {
    for (size_t c = 0; c < table->n_columns; c++) {
        const struct column *column = &table->columns[c];
        fprintf(out, "%s %s: %s, %s\n", table->name, column->name, units[column->unit],
                column->kind == COLUMN_COUNTER ? "grows" : "level");
    }
}

static void each_column_is_what_it_was(void **state) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    (void)state;
    for (size_t t = 0; t < TABLES_KNOWN; t++)
        put_table(out, &all_tables[t]);
    fclose(out);
    expect_golden("agent-columns.txt", text);
    free(text);
}

static bool ends_with(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

static void a_name_says_its_unit(void **state) {
    (void)state;
    for (size_t t = 0; t < TABLES_KNOWN; t++)
        for (size_t c = 0; c < all_tables[t].n_columns; c++) {
            const struct column *column = &all_tables[t].columns[c];
            enum unit unit = ends_with(column->name, "_ns")      ? UNIT_NS
                             : ends_with(column->name, "_bytes") ? UNIT_BYTES
                             : ends_with(column->name, "_nano")  ? UNIT_NANO
                                                                 : column->unit;
            if (unit != column->unit)
                fail_msg("%s.%s is in %s", all_tables[t].name, column->name, units[column->unit]);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_column_is_what_it_was),
        cmocka_unit_test(a_name_says_its_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
