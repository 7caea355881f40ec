/* SPDX-License-Identifier: MIT */
/*
 * One table of a run as CSV by RFC 4180: its rate view, column by column, so that the file contains
 * what a query by hand shows. An unknown value is an empty field.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "reports/export/export.h"
#include "reports/formats/csv.h"

static int put_header(void *ctx, const char *const *names, size_t n) {
    FILE *out = ctx;
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%s", i ? "," : "", names[i]);
    fputs("\r\n", out);
    return ferror(out) ? -EIO : 0;
}

static void put_cell(FILE *out, const struct store_cell *cell) {
    if (cell->kind == STORE_CELL_INTEGER)
        fprintf(out, "%" PRId64, cell->integer);
    else if (cell->kind == STORE_CELL_REAL && isfinite(cell->real))
        fprintf(out, "%.12g", cell->real);
    else if (cell->kind == STORE_CELL_TEXT)
        csv_put_text(out, cell->text);
}

static int put_row(void *ctx, const struct store_cell *cells, size_t n) {
    FILE *out = ctx;
    for (size_t i = 0; i < n; i++) {
        if (i)
            fputc(',', out);
        put_cell(out, &cells[i]);
    }
    fputs("\r\n", out);
    return ferror(out) ? -EIO : 0;
}

static int write_csv(struct store *store, const struct store_run *run, const char *table,
                     FILE *out) {
    struct store_view_reader reader = {put_header, put_row, out};
    return store_read_view(store, run->id, table, &reader);
}

const struct export_format export_csv = {.name = "csv", .of_one_table = true, .write = write_csv};
