/* SPDX-License-Identifier: MIT */
#include "reports/sections/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model/layout.h"

static void print_into(struct report_table *table, char **text, const char *format, va_list args) {
    free(*text);
    if (vasprintf(text, format, args) < 0) {
        *text = NULL;
        table->failed = true;
    }
}

#define PRINT_INTO(table, text, format)                                                            \
    do {                                                                                           \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        print_into(table, text, format, args);                                                     \
        va_end(args);                                                                              \
    } while (0)

void table_init(struct report_table *table, const char *id, const struct report *report,
                const struct report_column *columns, size_t n_columns) {
    *table = (struct report_table){.id = id,
                                   .audience = FOR_READERS | FOR_DOCUMENT,
                                   .level = 2,
                                   .columns = calloc(n_columns + 1, sizeof *columns),
                                   .n_columns = n_columns,
                                   .report = report};
    table->failed = !table->columns;
    if (table->columns && n_columns)
        memcpy(table->columns, columns, n_columns * sizeof *columns);
}

static void release_cell(const struct report_column *column, struct report_cell *cell) {
    free(cell->owned);
    if (column->kind == KIND_TABLE && cell->known) {
        table_release((struct report_table *)cell->items);
        free((void *)cell->items);
    }
}

void table_release(struct report_table *table) {
    for (size_t i = 0; i < table->n_rows * table->n_columns; i++)
        release_cell(&table->columns[i % table->n_columns], &table->cells[i]);
    for (size_t r = 0; r < table->n_rows; r++)
        free(table->rows[r].group);
    for (size_t i = 0; i < table->n_texts; i++)
        free(table->texts[i]);
    free(table->texts);
    free(table->title);
    free(table->note);
    free(table->columns);
    free(table->rows);
    free(table->cells);
    *table = (struct report_table){0};
}

void table_title(struct report_table *table, const char *format, ...) {
    PRINT_INTO(table, &table->title, format);
}

void table_note(struct report_table *table, const char *format, ...) {
    PRINT_INTO(table, &table->note, format);
}

size_t table_add_column(struct report_table *table, const struct report_column *column) {
    struct report_column *grown = realloc(table->columns, (table->n_columns + 2) * sizeof *grown);
    if (!grown) {
        table->failed = true;
        return 0;
    }
    table->columns = grown;
    grown[table->n_columns] = *column;
    return table->n_columns++;
}

size_t table_add_number_column(struct report_table *table, const char *name, const char *unit) {
    return table_add_column(
        table, &(struct report_column){.kind = KIND_NUMBER, .name = name, .unit = unit});
}

const char *table_keep(struct report_table *table, const char *format, ...) {
    char **grown = realloc(table->texts, (table->n_texts + 1) * sizeof *grown);
    table->failed |= !grown;
    if (!grown)
        return "";
    table->texts = grown;
    grown[table->n_texts] = NULL;
    PRINT_INTO(table, &grown[table->n_texts], format);
    const char *kept = grown[table->n_texts++];
    return kept ? kept : "";
}

/* ---- rows ---- */

static void set_text(struct report_cell *cell, const char *text) {
    cell->text = text;
    cell->known = text != NULL;
}

static void set_number(struct report_cell *cell, double value) {
    cell->number = value;
    cell->known = isfinite(value);
}

static void set_integer(const struct report_column *column, struct report_cell *cell,
                        int64_t value) {
    cell->integer = value;
    cell->known = value >= 0 || (column->kind != KIND_HOST && column->kind != KIND_RANK);
}

static void read_field(const struct report_column *column, const char *record,
                       struct report_cell *cell) {
    const void *at = record + column->at;
    switch (column->type) {
    case FIELD_DOUBLE:
        set_number(cell, *(const double *)at);
        break;
    case FIELD_INT:
        set_integer(column, cell, *(const int *)at);
        break;
    case FIELD_UNSIGNED:
        set_integer(column, cell, *(const unsigned *)at);
        break;
    case FIELD_LONG:
        set_integer(column, cell, *(const long *)at);
        break;
    case FIELD_SIZE:
        set_integer(column, cell, (int64_t) * (const size_t *)at);
        break;
    case FIELD_BOOL:
        set_integer(column, cell, *(const bool *)at);
        break;
    case FIELD_TEXT:
        set_text(cell, *(char *const *)at);
        break;
    case FIELD_CHARACTERS:
        set_text(cell, at);
        break;
    case FIELD_TEXTS:
        cell->items = *(char *const *const *)at;
        cell->n = *(const size_t *)(record + column->count_at);
        cell->known = true;
        break;
    case FIELD_NONE:
        break;
    }
}

static bool make_room(struct report_table *table) {
    size_t rows = table->rows_room ? 2 * table->rows_room : 8;
    if (table->n_rows < table->rows_room)
        return true;
    struct report_row *grown = realloc(table->rows, rows * sizeof *grown);
    if (!grown)
        return false;
    table->rows = grown;
    struct report_cell *cells = realloc(table->cells, rows * table->n_columns * sizeof *cells + 1);
    if (!cells)
        return false;
    table->cells = cells;
    table->rows_room = rows;
    return true;
}

size_t table_add(struct report_table *table, const void *record) {
    table->failed |= table->failed || !make_room(table);
    if (table->failed)
        return 0;
    struct report_cell *cells = table->cells + table->n_rows * table->n_columns;
    memset(cells, 0, table->n_columns * sizeof *cells);
    for (size_t c = 0; record && c < table->n_columns; c++)
        read_field(&table->columns[c], record, &cells[c]);
    table->rows[table->n_rows] = (struct report_row){.room = ROOM_SCREEN};
    return table->n_rows++;
}

void table_add_all(struct report_table *table, const void *records, size_t n, size_t size) {
    for (size_t i = 0; i < n; i++)
        table_add(table, (const char *)records + i * size);
}

void table_group(struct report_table *table, size_t row, const char *format, ...) {
    if (!table->failed)
        PRINT_INTO(table, &table->rows[row].group, format);
}

/* ---- cells ---- */

struct report_cell *table_cell(struct report_table *table, size_t row, size_t column) {
    static _Thread_local struct report_cell nowhere;
    return table->failed ? &nowhere : &table->cells[row * table->n_columns + column];
}

void table_text(struct report_table *table, size_t row, size_t column, const char *format, ...) {
    struct report_cell *cell = table_cell(table, row, column);
    if (table->failed)
        return;
    PRINT_INTO(table, &cell->owned, format);
    set_text(cell, cell->owned);
}

void table_borrow(struct report_table *table, size_t row, size_t column, const char *text) {
    set_text(table_cell(table, row, column), text);
}

struct report_cell *table_number(struct report_table *table, size_t row, size_t column,
                                 double value) {
    struct report_cell *cell = table_cell(table, row, column);
    set_number(cell, value);
    return cell;
}

void table_integer(struct report_table *table, size_t row, size_t column, int64_t value) {
    if (!table->failed)
        set_integer(&table->columns[column], table_cell(table, row, column), value);
}

void table_items(struct report_table *table, size_t row, size_t column, const void *items,
                 size_t n) {
    struct report_cell *cell = table_cell(table, row, column);
    cell->items = items;
    cell->n = n;
    cell->known = true;
}

void table_inner(struct report_table *table, size_t row, size_t column,
                 struct report_table *inner) {
    struct report_table *kept = table->failed ? NULL : malloc(sizeof *kept);
    table->failed |= inner->failed || !kept;
    if (!kept) {
        table_release(inner);
        return;
    }
    *kept = *inner;
    table->cells[row * table->n_columns + column] =
        (struct report_cell){.items = kept, .known = true};
}

/* ---- what a reader sees ---- */

bool column_is_of_words(const struct report_column *column) {
    return column->kind <= KIND_STATE || column->kind == KIND_HOST || column->kind == KIND_LIST ||
           column->kind == KIND_INSTANT;
}

bool column_is_shown(const struct report_column *column, enum report_room room) {
    return column->name && column->room <= room;
}

const char *column_heading(const struct report_column *column, char text[CELL_TEXT_SIZE * 4]) {
    snprintf(text, CELL_TEXT_SIZE * 4, column->unit && *column->unit ? "%s (%s)" : "%s",
             column->name ? column->name : "", column->unit);
    return text;
}

size_t table_rows_shown(const struct report_table *table, enum report_room room) {
    size_t n = 0;
    for (size_t r = 0; r < table->n_rows; r++)
        n += table->rows[r].room <= room;
    return n;
}

static void put_number(const struct report_column *column, const struct report_cell *cell,
                       char *text) {
    char number[LAYOUT_NUMBER_SIZE];
    double value = cell->number * (column->scale != 0 ? column->scale : 1);
    if (column->digits)
        snprintf(number, sizeof number, "%.*f", column->digits < 0 ? 0 : column->digits, value);
    else
        layout_number(number, value);
    snprintf(text, CELL_TEXT_SIZE, "%s%s%s", cell->before ? cell->before : "", number,
             cell->after ? cell->after : "");
}

const char *cell_text(const struct report_table *table, size_t row, size_t column,
                      char text[CELL_TEXT_SIZE]) {
    const struct report_column *of = &table->columns[column];
    const struct report_cell *cell = &table->cells[row * table->n_columns + column];
    long seconds;
    if (!cell->known)
        return column_is_of_words(of) && of->kind != KIND_HOST && of->kind != KIND_INSTANT ? ""
                                                                                           : "-";
    switch (of->kind) {
    case KIND_NUMBER:
        put_number(of, cell, text);
        return text;
    case KIND_COUNT:
    case KIND_RANK:
        snprintf(text, CELL_TEXT_SIZE, "%lld%s", (long long)cell->integer,
                 cell->after ? cell->after : "");
        return text;
    case KIND_FLAG:
        return cell->integer ? "yes" : "no";
    case KIND_HOST:
        return layout_host(table->report, (int)cell->integer);
    case KIND_INSTANT:
        return layout_time(text, cell->integer);
    case KIND_DURATION:
        seconds = lround(cell->number);
        snprintf(text, CELL_TEXT_SIZE, "%ld:%02ld:%02ld", seconds / 3600, seconds / 60 % 60,
                 seconds % 60);
        return text;
    case KIND_LIST:
    case KIND_NUMBERS:
    case KIND_COUNTS:
    case KIND_TABLE:
        return "";
    default:
        return cell->text;
    }
}
