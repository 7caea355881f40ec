/* SPDX-License-Identifier: MIT */
/* Tables as text. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model/layout.h"
#include "reports/sweep/sweep_tables.h"

struct sweep_table *sweep_table_new(struct sweep_tables *tables, const char *id, const char *of,
                                    size_t rows, size_t columns, const char *title, ...) {
    struct sweep_table *grown = realloc(tables->items, (tables->n + 1) * sizeof *grown);
    struct sweep_table table = {.id = id, .of = strdup(of), .rows = rows, .columns = columns};
    va_list values;
    if (grown)
        tables->items = grown;
    va_start(values, title);
    if (vasprintf(&table.title, title, values) < 0)
        table.title = NULL;
    va_end(values);
    table.cells = calloc(rows * columns + 1, sizeof *table.cells);
    table.beside = calloc(rows + 1, sizeof *table.beside);
    if (grown && table.of && table.title && table.cells && table.beside) {
        grown[tables->n] = table;
        return &grown[tables->n++];
    }
    free(table.of);
    free(table.title);
    free(table.cells);
    free(table.beside);
    return NULL;
}

int sweep_table_set(struct sweep_table *table, size_t row, size_t column, const char *format, ...) {
    char *text = NULL;
    va_list values;
    va_start(values, format);
    int n = vasprintf(&text, format, values);
    va_end(values);
    if (n < 0)
        return -ENOMEM;
    free(table->cells[row * table->columns + column]);
    table->cells[row * table->columns + column] = text;
    return 0;
}

int sweep_table_number(struct sweep_table *table, size_t row, size_t column, double value) {
    char number[LAYOUT_NUMBER_SIZE];
    return sweep_table_set(table, row, column, "%s", layout_number(number, value));
}

void sweep_tables_free(struct sweep_tables *tables) {
    for (size_t i = 0; i < tables->n; i++) {
        struct sweep_table *table = &tables->items[i];
        for (size_t c = 0; c < table->rows * table->columns; c++)
            free(table->cells[c]);
        free(table->cells);
        free(table->beside);
        free(table->title);
        free(table->of);
    }
    free(tables->items);
    *tables = (struct sweep_tables){0};
}
