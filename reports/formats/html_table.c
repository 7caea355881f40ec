/* SPDX-License-Identifier: MIT */
/* Tables of a page. Each group of rows is a separate body, so that sorting keeps it together. */
#include <string.h>

#include "reports/formats/html_private.h"

#define ROWS_LONG 40 /* more rows scroll within the page */

/* The sort key for the script, if the displayed words are not a number. */
static void put_value(FILE *out, const struct report_column *of, const struct report_cell *cell) {
    if (of->kind == KIND_DURATION && cell->known)
        fprintf(out, " data-v=\"%.9g\"", cell->number);
    else if (of->kind == KIND_INSTANT && cell->known)
        fprintf(out, " data-v=\"%lld\"", (long long)cell->integer);
}

static void put_html_table_cell(FILE *out, const struct report_table *table, size_t row,
                                size_t column) {
    const struct report_cell *cell = &table->cells[row * table->n_columns + column];
    const struct report_column *of = &table->columns[column];
    char text[CELL_TEXT_SIZE];
    const char *shown = cell_text(table, row, column, text);
    fprintf(out, "<td class=\"%s%s%s\"",
            of->kind == KIND_PROSE || of->kind == KIND_LIST ? "wrap"
            : column_is_of_words(of)                        ? "t"
                                                            : "n",
            cell->mark ? " " : "", cell->mark ? cell->mark : "");
    put_value(out, of, cell);
    if (cell->hint) {
        fputs(" title=\"", out);
        html_put(out, cell->hint);
        fputc('"', out);
    }
    fputc('>', out);
    if (of->kind == KIND_LIST && cell->n)
        html_put_items(out, cell->items, cell->n);
    else if (of->kind == KIND_STATE)
        fprintf(out, "<span class=\"badge %s\">%s</span>", shown, shown);
    else if (of->kind == KIND_DRAWN && *shown)
        html_put_element(out, "code", NULL, shown);
    else if (of->kind == KIND_PROSE)
        html_put_words(out, shown);
    else
        html_put(out, shown);
    fputs("</td>", out);
}

static size_t columns_shown(const struct report_table *table) {
    size_t shown = 0;
    for (size_t c = 0; c < table->n_columns; c++)
        shown += column_is_shown(&table->columns[c], ROOM_FULL);
    return shown;
}

static void put_html_table_row(FILE *out, const struct report_table *table, size_t row) {
    if (table->rows[row].group) {
        fprintf(out,
                "</tbody><tbody><tr class=\"group\"><th scope=\"rowgroup\" colspan=\"%zu\"><span>",
                columns_shown(table));
        html_put(out, table->rows[row].group);
        fputs("</span></th></tr>\n", out);
    }
    fputs(table->rows[row].reference ? "<tr class=\"muted\">" : "<tr>", out);
    for (size_t c = 0; c < table->n_columns; c++)
        if (column_is_shown(&table->columns[c], ROOM_FULL))
            put_html_table_cell(out, table, row, c);
    fputs("</tr>\n", out);
}

/* A column without a heading still has a name for screen readers. */
static void put_html_table_head(FILE *out, const struct report_column *column) {
    char text[4 * CELL_TEXT_SIZE];
    const char *words = column_heading(column, text);
    fprintf(out, "<th scope=\"col\"%s>", column_is_of_words(column) ? " class=\"t\"" : "");
    if (*words)
        html_put(out, words);
    else
        fputs("<span class=\"heard\">of</span>", out);
    fputs("</th>", out);
}

void html_table(struct page *page, const struct report_table *table) {
    struct html *h = page->state;
    html_open_scroll(page, table->n_rows > ROWS_LONG ? "table long" : "table",
                     table->title ? table->title : h->title);
    fputs("<table><thead><tr>", page->out);
    for (size_t c = 0; c < table->n_columns; c++)
        if (column_is_shown(&table->columns[c], ROOM_FULL))
            put_html_table_head(page->out, &table->columns[c]);
    fputs("</tr></thead>\n<tbody>", page->out);
    for (size_t r = 0; r < table->n_rows; r++)
        if (table->rows[r].room <= ROOM_FULL)
            put_html_table_row(page->out, table, r);
    fputs("</tbody></table></div>\n", page->out);
}
