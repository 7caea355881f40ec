/* SPDX-License-Identifier: MIT */
/*
 * Markdown as GitHub reads it, for a lab book or an issue. In text from outside, characters with a
 * meaning in Markdown or HTML are escaped. An empty line separates blocks.
 */
#include <ctype.h>
#include <string.h>

#include "reports/formats/formats.h"
#include "reports/formats/stand_in.h"

static bool is_letter(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static void put_escaped(FILE *out, const char *text) {
    bool last_is_letter = false;
    uint32_t code;
    for (size_t n; *text; last_is_letter = is_letter((unsigned char)*text), text += n) {
        n = text_char(text, strnlen(text, 4), &code);
        /* an underscore between letters is no emphasis */
        bool inner = code == '_' && last_is_letter && is_letter((unsigned char)text[1]);
        if (!code)
            fputs(stand_in(text), out);
        else if (code == '<')
            fputs("&lt;", out);
        else if (code == '>')
            fputs("&gt;", out);
        else if (code == '&')
            fputs("&amp;", out);
        else
            fprintf(out, "%s%.*s", n == 1 && strchr("\\`*_[]|~#$", *text) && !inner ? "\\" : "",
                    (int)n, text);
    }
}

static void begin_block(struct page *page) {
    if (page->depth++)
        fputc('\n', page->out);
}

static void put_markdown_heading(struct page *page, int level, const char *text) {
    if (!*text)
        return;
    const char *mark = level > 2 ? "**" : "";
    begin_block(page);
    fputs(level == 1 ? "# " : level == 2 ? "## " : mark, page->out);
    put_escaped(page->out, text);
    fprintf(page->out, "%s\n", mark);
}

static void put_markdown_paragraph(struct page *page, enum style style, const char *text) {
    const char *mark = style == STYLE_LEAD ? "**" : "";
    begin_block(page);
    fputs(mark, page->out);
    put_escaped(page->out, text);
    fprintf(page->out, "%s\n", mark);
}

static void put_code(FILE *out, const char *text) {
    uint32_t code;
    for (size_t n; *text; text += n) {
        n = text_char(text, strnlen(text, 4), &code);
        fprintf(out, "%.*s", code ? (int)n : 1, code ? text : stand_in(text));
    }
}

/* A command in code needs a fence longer than its own backticks. */
static void put_markdown_command(struct page *page, const char *command) {
    size_t longest = 0, run = 0;
    begin_block(page);
    for (const char *p = command; *p; p++) {
        run = *p == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    for (int side = 0; side < 2; side++) {
        if (side) {
            fputc(' ', page->out);
            put_code(page->out, command);
            fputc(' ', page->out);
        }
        for (size_t i = 0; i <= longest; i++)
            fputc('`', page->out);
    }
    fputc('\n', page->out);
}

static void put_markdown_statement(struct page *page, const char *state, double confidence,
                                   const char *sentence) {
    begin_block(page);
    fprintf(page->out, "**%s**", state);
    if (confidence > 0)
        fprintf(page->out, " (confidence %.0f %%)", 100 * confidence);
    fputs(": ", page->out);
    put_escaped(page->out, sentence);
    fputc('\n', page->out);
}

static void put_markdown_list(struct page *page, const char *label, char *const *items, size_t n) {
    if (label) {
        begin_block(page);
        fprintf(page->out, "**%c%s**\n", toupper((unsigned char)*label), label + 1);
    }
    begin_block(page);
    for (size_t i = 0; i < n; i++) {
        fputs("- ", page->out);
        put_escaped(page->out, items[i]);
        fputc('\n', page->out);
    }
}

/* ---- tables ---- */

static void put_heads(FILE *out, const struct report_table *table) {
    char text[4 * CELL_TEXT_SIZE];
    for (size_t c = 0; c < table->n_columns; c++)
        if (column_is_shown(&table->columns[c], ROOM_PAGE)) {
            fputs("| ", out);
            const char *heading = column_heading(&table->columns[c], text);
            put_escaped(out, heading + strspn(heading, " "));
            fputc(' ', out);
        }
    fputs("|\n", out);
    for (size_t c = 0; c < table->n_columns; c++)
        if (column_is_shown(&table->columns[c], ROOM_PAGE))
            fputs(column_is_of_words(&table->columns[c]) ? "|---" : "|--:", out);
    fputs("|\n", out);
}

static void put_items(FILE *out, const struct report_cell *cell) {
    for (size_t i = 0; i < cell->n; i++) {
        fputs(i ? "; " : "", out);
        put_escaped(out, ((char *const *)cell->items)[i]);
    }
}

static void put_markdown_cell(FILE *out, const struct report_table *table, size_t row,
                              size_t column) {
    const struct report_cell *cell = &table->cells[row * table->n_columns + column];
    char text[CELL_TEXT_SIZE];
    const char *shown = cell_text(table, row, column, text);
    bool drawn = table->columns[column].kind == KIND_DRAWN && *shown;
    const char *mark = drawn ? "`" : table->rows[row].reference && *shown ? "*" : "";
    fprintf(out, "| %s", mark);
    if (table->columns[column].kind == KIND_LIST)
        put_items(out, cell);
    else if (drawn) /* ours: dots and hashes */
        fputs(shown, out);
    else
        put_escaped(out, shown + strspn(shown, " "));
    fprintf(out, "%s ", mark);
}

static void put_group(FILE *out, const struct report_table *table, const char *group) {
    bool first = true;
    for (size_t c = 0; c < table->n_columns; c++)
        if (column_is_shown(&table->columns[c], ROOM_PAGE)) {
            fputs("| ", out);
            if (first) {
                fputs("**", out);
                put_escaped(out, group);
                fputs("** ", out);
            }
            first = false;
        }
    fputs("|\n", out);
}

static void put_markdown_table(struct page *page, const struct report_table *table) {
    begin_block(page);
    put_heads(page->out, table);
    for (size_t r = 0; r < table->n_rows; r++) {
        if (table->rows[r].room > ROOM_PAGE)
            continue;
        if (table->rows[r].group)
            put_group(page->out, table, table->rows[r].group);
        for (size_t c = 0; c < table->n_columns; c++)
            if (column_is_shown(&table->columns[c], ROOM_PAGE))
                put_markdown_cell(page->out, table, r, c);
        fputs("|\n", page->out);
    }
}

/* ---- pictures, as links: nothing in a path ends it early ---- */

static void put_path(FILE *out, const char *path) {
    for (; *path; path++)
        if (isalnum((unsigned char)*path) || strchr("/._-", *path))
            fputc(*path, out);
        else
            fprintf(out, "%%%02X", (unsigned)(unsigned char)*path);
}

static void put_markdown_picture(struct page *page, const struct page_picture *picture) {
    if (!picture->svg || !picture->link)
        return;
    begin_block(page);
    fputs("![", page->out);
    put_escaped(page->out, picture->caption);
    fputs("](", page->out);
    put_path(page->out, picture->link);
    fputs(")\n", page->out);
}

const struct format format_md = {
    .name = "md",
    .serves = FOR_READERS,
    .room = ROOM_PAGE,
    .heading = put_markdown_heading,
    .paragraph = put_markdown_paragraph,
    .command = put_markdown_command,
    .statement = put_markdown_statement,
    .list = put_markdown_list,
    .table = put_markdown_table,
    .picture = put_markdown_picture,
};
