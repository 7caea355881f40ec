/* SPDX-License-Identifier: MIT */
/*
 * Rows are written as they come. Columns of text are as wide as the first rows need, which are kept
 * until their width is known; a longer value that comes later moves the rest of its line.
 */
#include "cli/sql/sql_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/csv.h"

#define MEASURED_ROWS 100

struct sql_rows {
    enum sql_format format;
    FILE *out;
    size_t n;      /* columns */
    char **names;  /* owned */
    int *widths;   /* owned, of text */
    bool *numbers; /* owned: all measured values of the column are numbers */
    char **kept;   /* owned: n texts of each measured row */
    size_t n_kept; /* rows */
    bool measured; /* kept rows are written */
    bool any;      /* a row was written */
};

/* ---- values ---- */

static void put_number(FILE *out, const struct store_cell *cell) {
    if (cell->kind == STORE_CELL_INTEGER)
        fprintf(out, "%" PRId64, cell->integer);
    else
        fprintf(out, "%.12g", cell->real);
}

static bool is_number(const struct store_cell *cell) {
    return cell->kind == STORE_CELL_INTEGER ||
           (cell->kind == STORE_CELL_REAL && isfinite(cell->real));
}

/* Texts of the store are printable UTF-8. */
static void put_json_text(FILE *out, const char *text) {
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* ---- CSV and JSON ---- */

static void put_csv_row(struct sql_rows *rows, const struct store_cell *cells) {
    for (size_t i = 0; i < rows->n; i++) {
        if (i)
            fputc(',', rows->out);
        if (is_number(&cells[i]))
            put_number(rows->out, &cells[i]);
        else if (cells[i].kind == STORE_CELL_TEXT)
            csv_put_text(rows->out, cells[i].text);
    }
    fputs("\r\n", rows->out);
}

static void put_json_row(struct sql_rows *rows, const struct store_cell *cells) {
    fputs(rows->any ? ",\n {" : "[\n {", rows->out);
    for (size_t i = 0; i < rows->n; i++) {
        fputs(i ? ", " : "", rows->out);
        put_json_text(rows->out, rows->names[i]);
        fputs(": ", rows->out);
        if (is_number(&cells[i]))
            put_number(rows->out, &cells[i]);
        else if (cells[i].kind == STORE_CELL_TEXT)
            put_json_text(rows->out, cells[i].text);
        else
            fputs("null", rows->out);
    }
    fputc('}', rows->out);
}

/* ---- text ---- */

static char *text_of(const struct store_cell *cell) {
    char *text = NULL;
    if (cell->kind == STORE_CELL_TEXT)
        return strdup(cell->text);
    if (!is_number(cell))
        return strdup("-");
    int n = cell->kind == STORE_CELL_INTEGER ? asprintf(&text, "%" PRId64, cell->integer)
                                             : asprintf(&text, "%.12g", cell->real);
    return n < 0 ? NULL : text;
}

/* Columns of a terminal: continuation bytes of UTF-8 take none. */
static int width_of(const char *text) {
    int width = 0;
    for (; *text; text++)
        width += (*text & 0xc0) != 0x80;
    return width;
}

static void put_padded(const struct sql_rows *rows, size_t column, const char *text) {
    int pad = rows->widths[column] - width_of(text);
    bool last = column + 1 == rows->n;
    pad = pad < 0 ? 0 : pad;
    if (rows->numbers[column])
        fprintf(rows->out, "%*s%s", pad, "", text);
    else
        fprintf(rows->out, "%s%*s", text, last ? 0 : pad, "");
    fputs(last ? "\n" : "  ", rows->out);
}

static void put_kept(struct sql_rows *rows) {
    if (rows->measured)
        return;
    rows->measured = true;
    for (size_t c = 0; c < rows->n; c++)
        put_padded(rows, c, rows->names[c]);
    for (size_t i = 0; i < rows->n_kept * rows->n; i++) {
        put_padded(rows, i % rows->n, rows->kept[i]);
        free(rows->kept[i]);
    }
    rows->n_kept = 0;
}

static int keep_row(struct sql_rows *rows, const struct store_cell *cells) {
    char **texts = rows->kept + rows->n_kept * rows->n;
    for (size_t c = 0; c < rows->n; c++) {
        texts[c] = text_of(&cells[c]);
        if (!texts[c]) {
            while (c-- > 0)
                free(texts[c]);
            return -ENOMEM;
        }
        int width = width_of(texts[c]);
        rows->widths[c] = width > rows->widths[c] ? width : rows->widths[c];
        rows->numbers[c] &= cells[c].kind != STORE_CELL_TEXT;
    }
    if (++rows->n_kept == MEASURED_ROWS)
        put_kept(rows);
    return 0;
}

static int put_text_row(struct sql_rows *rows, const struct store_cell *cells) {
    if (!rows->measured)
        return keep_row(rows, cells);
    for (size_t c = 0; c < rows->n; c++) {
        char *text = text_of(&cells[c]);
        if (!text)
            return -ENOMEM;
        put_padded(rows, c, text);
        free(text);
    }
    return 0;
}

/* ---- the reader ---- */

static int take_header(void *ctx, const char *const *names, size_t n) {
    struct sql_rows *rows = ctx;
    rows->names = calloc(n, sizeof *rows->names);
    rows->widths = calloc(n, sizeof *rows->widths);
    rows->numbers = calloc(n, sizeof *rows->numbers);
    rows->kept = calloc(n * MEASURED_ROWS, sizeof *rows->kept);
    if (!rows->names || !rows->widths || !rows->numbers || !rows->kept)
        return -ENOMEM;
    rows->n = n;
    for (size_t c = 0; c < n; c++) {
        rows->names[c] = malloc(strlen(names[c]) + 1);
        if (!rows->names[c])
            return -ENOMEM;
        text_sanitize(rows->names[c], strlen(names[c]) + 1, names[c], strlen(names[c]));
        rows->widths[c] = width_of(rows->names[c]);
        rows->numbers[c] = true;
    }
    for (size_t c = 0; c < n && rows->format == SQL_CSV; c++)
        fprintf(rows->out, "%s%s%s", c ? "," : "", rows->names[c], c + 1 == n ? "\r\n" : "");
    return 0;
}

static int take_row(void *ctx, const struct store_cell *cells, size_t n) {
    struct sql_rows *rows = ctx;
    (void)n;
    int r = 0;
    if (rows->format == SQL_CSV)
        put_csv_row(rows, cells);
    else if (rows->format == SQL_JSON)
        put_json_row(rows, cells);
    else
        r = put_text_row(rows, cells);
    rows->any = true;
    return r < 0 ? r : ferror(rows->out) ? -EPIPE : 0;
}

int sql_rows_new(enum sql_format format, FILE *out, struct sql_rows **ret_rows,
                 struct store_view_reader *ret_reader) {
    struct sql_rows *rows = calloc(1, sizeof *rows);
    if (!rows)
        return -ENOMEM;
    rows->format = format;
    rows->out = out;
    *ret_reader = (struct store_view_reader){take_header, take_row, rows};
    *ret_rows = rows;
    return 0;
}

int sql_rows_end(struct sql_rows *rows) {
    if (rows->format == SQL_TEXT)
        put_kept(rows);
    if (rows->format == SQL_JSON)
        fputs(rows->any ? "\n]\n" : "[]\n", rows->out);
    return fflush(rows->out) != 0 || ferror(rows->out) ? -EPIPE : 0;
}

void sql_rows_free(struct sql_rows *rows) {
    if (!rows)
        return;
    for (size_t c = 0; c < rows->n; c++)
        free(rows->names[c]);
    for (size_t i = 0; i < rows->n_kept * rows->n; i++)
        free(rows->kept[i]);
    free(rows->names);
    free(rows->widths);
    free(rows->numbers);
    free(rows->kept);
    free(rows);
}
