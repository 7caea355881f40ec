/* SPDX-License-Identifier: MIT */
/*
 * Text for a terminal of 100 columns. Columns of a table that do not fit beside each other continue
 * below, each block with the first column again; sentences of a row stand below it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/formats.h"
#include "reports/formats/terminal.h"

/* ---- tables ---- */

#define CELL_MAX 40
#define SHRUNK_MIN 8

/* The columns that stand beside each other, with their widths. */
struct layout {
    const struct report_table *table;
    size_t *columns, *widths, n, indent, wide; /* wide: width of the terminal */
    size_t
        names; /* columns repeated in each block: the first, and its neighbours of the same kind */
};

static bool is_below(const struct report_column *column) {
    return column->kind == KIND_PROSE || column->kind == KIND_LIST;
}

static const char *head_of(const struct layout *layout, size_t at, char *text) {
    return column_heading(&layout->table->columns[layout->columns[at]], text);
}

static bool row_is_shown(const struct report_table *table, size_t row) {
    return table->rows[row].room == ROOM_SCREEN;
}

static size_t width_of(const struct layout *layout, size_t at) {
    const struct report_table *table = layout->table;
    const struct report_column *column = &table->columns[layout->columns[at]];
    char text[4 * CELL_TEXT_SIZE];
    size_t width = terminal_width(head_of(layout, at, text));
    for (size_t r = 0; r < table->n_rows; r++) {
        size_t own = row_is_shown(table, r)
                         ? terminal_width(cell_text(table, r, layout->columns[at], text))
                         : 0;
        width = own > width ? own : width;
    }
    return width > CELL_MAX && !column->shrinks && column->kind != KIND_DRAWN ? CELL_MAX : width;
}

/* Cuts the column that may be cut, if that makes a single block. */
static void shrink(struct layout *layout) {
    size_t all = layout->indent;
    for (size_t i = 0; i < layout->n; i++)
        all += layout->widths[i] + (i ? 2 : 0);
    for (size_t i = 0; i < layout->n && all > layout->wide; i++)
        if (layout->table->columns[layout->columns[i]].shrinks &&
            layout->widths[i] >= all - layout->wide + SHRUNK_MIN) {
            layout->widths[i] -= all - layout->wide;
            all = layout->wide;
        }
}

static bool layout_init(struct layout *layout, const struct report_table *table, size_t indent,
                        size_t wide) {
    *layout = (struct layout){.table = table, .indent = indent, .wide = wide};
    layout->columns = calloc(2 * table->n_columns + 1, sizeof *layout->columns);
    layout->widths = layout->columns + table->n_columns;
    for (size_t c = 0; layout->columns && c < table->n_columns; c++)
        if (column_is_shown(&table->columns[c], ROOM_SCREEN) && !is_below(&table->columns[c]))
            layout->columns[layout->n++] = c;
    for (size_t i = 0; i < layout->n; i++)
        layout->widths[i] = width_of(layout, i);
    for (layout->names = 1;
         layout->names < layout->n && table->columns[layout->columns[layout->names]].names;
         layout->names++)
        ;
    shrink(layout);
    return layout->n > 0;
}

/* A line: the columns that name the row and those of [from, to), without trailing blanks. row: -1
 * for the titles.
 */
static void put_text_line(FILE *out, const struct layout *layout, long row, size_t from,
                          size_t to) {
    char text[4 * CELL_TEXT_SIZE];
    size_t blanks = layout->indent;
    for (size_t i = 0; i < to; i = i + 1 == layout->names ? from : i + 1) {
        const struct report_column *column = &layout->table->columns[layout->columns[i]];
        const char *cell = row < 0
                               ? head_of(layout, i, text)
                               : cell_text(layout->table, (size_t)row, layout->columns[i], text);
        size_t width = layout->widths[i], own = terminal_width(cell);
        size_t pad = own < width ? width - own : 0;
        bool right = !column_is_of_words(column) && i;
        if (*cell) {
            fprintf(out, "%*s", (int)(blanks + (right ? pad : 0)), "");
            terminal_put(out, cell, width);
            blanks = right ? 2 : pad + 2;
        } else {
            blanks += width + 2;
        }
    }
    fputc('\n', out);
}

/* Sentences of a row, below it. */
static void put_below(FILE *out, const struct layout *layout, size_t row) {
    const struct report_table *table = layout->table;
    char label[64], text[CELL_TEXT_SIZE];
    for (size_t c = 0; c < table->n_columns; c++) {
        const struct report_cell *cell = &table->cells[row * table->n_columns + c];
        if (!column_is_shown(&table->columns[c], ROOM_SCREEN) || !is_below(&table->columns[c]) ||
            !cell->known)
            continue;
        bool list = table->columns[c].kind == KIND_LIST;
        snprintf(label, sizeof label, "%*s%s", (int)layout->indent + 2, "", list ? "- " : "");
        for (size_t i = 0; list && i < cell->n; i++)
            terminal_paragraph(out, label, ((char *const *)cell->items)[i], 0);
        if (!list)
            terminal_paragraph(out, label, cell_text(table, row, c, text), 0);
    }
}

static void put_block(FILE *out, const struct layout *layout, size_t from, size_t to) {
    char label[64];
    put_text_line(out, layout, -1, from, to);
    for (size_t r = 0; r < layout->table->n_rows; r++) {
        const struct report_row *row = &layout->table->rows[r];
        if (!row_is_shown(layout->table, r))
            continue;
        snprintf(label, sizeof label, "%*s", (int)layout->indent, "");
        if (row->group)
            terminal_paragraph(out, label, row->group, 0);
        put_text_line(out, layout, (long)r, from, to);
        if (to == layout->n)
            put_below(out, layout, r);
    }
}

void text_put_table(FILE *out, const struct report_table *table, size_t indent) {
    struct layout layout;
    if (layout_init(&layout, table, indent, terminal_columns(out))) {
        size_t to = layout.names;
        do {
            size_t from = to, used = indent + layout.widths[0];
            for (size_t i = 1; i < layout.names; i++)
                used += 2 + layout.widths[i];
            for (; to < layout.n && (to == from || used + 2 + layout.widths[to] <= layout.wide);
                 to++)
                used += 2 + layout.widths[to];
            if (from > layout.names)
                fputc('\n', out);
            put_block(out, &layout, from, to);
        } while (to < layout.n);
    }
    free(layout.columns);
}

/* ---- the rest ---- */

static void put_text_heading(struct page *page, int level, const char *text) {
    (void)level;
    if (page->depth++)
        fputc('\n', page->out);
    if (*text)
        terminal_paragraph(page->out, "", text, 0);
}

static void put_text_paragraph(struct page *page, enum style style, const char *text) {
    page->depth++;
    terminal_paragraph(page->out, style == STYLE_LEAD ? "" : "  ", text, 0);
}

static void put_text_command(struct page *page, const char *command) {
    terminal_paragraph(page->out, "  ", command, 4);
}

static void put_text_statement(struct page *page, const char *state, double confidence,
                               const char *sentence) {
    char label[96], *text;
    if (confidence > 0)
        snprintf(label, sizeof label, "%s (confidence %.0f %%)", state, 100 * confidence);
    else
        snprintf(label, sizeof label, "%s", state);
    if (asprintf(&text, "%s: %s", label, sentence) < 0)
        return;
    terminal_coloured_paragraph(page->out, NULL, strlen(label), text, 0);
    free(text);
}

static void put_text_list(struct page *page, const char *label, char *const *items, size_t n) {
    char first[64] = "  - ", others[64];
    if (label)
        snprintf(first, sizeof first, "  %.40s:%*s", label,
                 label[0] && strlen(label) < 12 ? (int)(12 - strlen(label)) : 1, "");
    snprintf(others, sizeof others, label ? "%*s" : "  - ", (int)strlen(first), "");
    for (size_t i = 0; i < n; i++)
        terminal_paragraph(page->out, i ? others : first, items[i], 0);
}

static void put_text_table(struct page *page, const struct report_table *table) {
    text_put_table(page->out, table, 2);
}

const struct format format_text = {
    .name = "text",
    .serves = FOR_READERS,
    .room = ROOM_SCREEN,
    .heading = put_text_heading,
    .paragraph = put_text_paragraph,
    .command = put_text_command,
    .statement = put_text_statement,
    .list = put_text_list,
    .table = put_text_table,
};
