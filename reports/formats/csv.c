/* SPDX-License-Identifier: MIT */
/*
 * CSV by RFC 4180: the tables made for it, each below a header. A text that a spreadsheet would
 * take for a formula gets a leading apostrophe.
 */
#include <math.h>
#include <string.h>

#include "reports/formats/csv.h"
#include "reports/formats/formats.h"
#include "reports/formats/stand_in.h"

/* As spreadsheets recognise it; some also accept full-width signs. */
static bool is_formula(const char *text) {
    static const char *const signs[] = {"=",  "+",      "-",      "@",      "\t",
                                        "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(text, signs[i], strlen(signs[i])) == 0)
            return true;
    return false;
}

void csv_put_text(FILE *out, const char *text) {
    uint32_t code;
    fputs(is_formula(text) ? "\"'" : "\"", out);
    for (size_t n; *text; text += n) {
        n = text_char(text, strnlen(text, 4), &code);
        if (code == '"')
            fputc('"', out);
        fprintf(out, "%.*s", code ? (int)n : 1, code ? text : stand_in(text));
    }
    fputc('"', out);
}

/* A word of ours without special meaning for a spreadsheet needs no quotes. */
static bool is_plain(const char *text) {
    return text[strspn(
               text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_%/")] == '\0';
}

static void put_csv_cell(FILE *out, const struct report_table *table, size_t row, size_t column) {
    const struct report_cell *cell = &table->cells[row * table->n_columns + column];
    char text[CELL_TEXT_SIZE];
    switch (table->columns[column].kind) {
    case KIND_NUMBER:
    case KIND_DURATION:
        if (cell->known)
            fprintf(out, "%.10g", cell->number);
        break;
    case KIND_COUNT:
        fputs(cell->known ? cell_text(table, row, column, text) : "", out);
        break;
    case KIND_WORD:
        if (is_plain(cell_text(table, row, column, text)))
            fputs(cell_text(table, row, column, text), out);
        else
            csv_put_text(out, cell->text);
        break;
    default:
        csv_put_text(out, cell_text(table, row, column, text));
    }
}

static void put_csv_head(FILE *out, const struct report_column *column) {
    if (column->kind == KIND_TEXT && column->name) /* a name from outside */
        csv_put_text(out, column->name);
    else
        fputs(column->key, out);
}

/* row: -1 for the column titles. */
static void put_csv_line(FILE *out, const struct report_table *table, long row) {
    bool first = true;
    for (size_t c = 0; c < table->n_columns; c++) {
        if (!table->columns[c].key)
            continue;
        fputs(first ? "" : ",", out);
        if (row < 0)
            put_csv_head(out, &table->columns[c]);
        else
            put_csv_cell(out, table, (size_t)row, c);
        first = false;
    }
    fputs("\r\n", out);
}

static void put_csv_table(struct page *page, const struct report_table *table) {
    if (page->depth++)
        fputs("\r\n", page->out);
    for (long r = -1; r < (long)table->n_rows; r++)
        put_csv_line(page->out, table, r);
}

const struct format format_csv = {
    .name = "csv", .serves = FOR_CSV, .room = ROOM_NONE, .table = put_csv_table};
