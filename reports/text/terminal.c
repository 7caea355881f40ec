/* SPDX-License-Identifier: MIT */
#include "reports/text/terminal.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/error.h"
#include "common/text.h"
#include "reports/model/layout.h"

/* The character at text and its bytes; 0 bytes if it is not printable UTF-8. */
static uint32_t decode(const char *text, size_t size, size_t *ret_bytes) {
    const unsigned char *s = (const unsigned char *)text;
    size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    *ret_bytes = n <= size && text_is_printable_utf8(text, n) ? n : 0;
    if (*ret_bytes < 2)
        return s[0];
    uint32_t code = s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++)
        code = code << 6 | (s[i] & 0x3fu);
    return code;
}

/* Ranges of Unicode 15's East Asian Wide and emoji, coarsely; and those that take no column or
 * change the direction of writing. */
static const uint32_t wide[][2] = {
    {0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
static const uint32_t zero[][2] = {{0x0300, 0x036f}, {0x200b, 0x200f}, {0x202a, 0x202e},
                                   {0x2060, 0x206f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f},
                                   {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}};
static const uint32_t turning[][2] = {{0x200e, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069}};

static bool within(const uint32_t (*ranges)[2], size_t n, uint32_t code) {
    for (size_t i = 0; i < n; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

/* One character: its bytes and columns; *ret_show is false if '?' stands for it. */
static size_t next(const char *text, size_t size, size_t *ret_columns, bool *ret_show) {
    size_t bytes;
    uint32_t code = decode(text, size, &bytes);
    *ret_show = bytes > 0 && !within(turning, ARRAY_SIZE(turning), code);
    *ret_columns = !*ret_show                             ? 1
                   : within(zero, ARRAY_SIZE(zero), code) ? 0
                   : within(wide, ARRAY_SIZE(wide), code) ? 2
                                                          : 1;
    return bytes ? bytes : 1;
}

/* Columns that the text takes, of at most `width` (0: no limit); out NULL: only counts. */
static size_t put(FILE *out, const char *text, size_t size, size_t width) {
    size_t used = 0, columns;
    bool show;
    while (size) {
        size_t bytes = next(text, size, &columns, &show);
        if (width && used + columns > width)
            break;
        if (out)
            fwrite(show ? text : "?", 1, show ? bytes : 1, out);
        used += columns;
        text += bytes;
        size -= bytes;
    }
    return used;
}

size_t terminal_width(const char *text) {
    return put(NULL, text, strlen(text), 0);
}

void terminal_put(FILE *out, const char *text, size_t width) {
    put(out, text, strlen(text), width);
}

void terminal_put_cell(FILE *out, const char *text, size_t width, bool right) {
    size_t own = terminal_width(text);
    size_t pad = own < width ? width - own : 0;
    if (right)
        fprintf(out, "%*s", (int)pad, "");
    size_t used = width ? put(out, text, strlen(text), width) : 0;
    if (!right)
        fprintf(out, "%*s", (int)(width - used), "");
}

size_t terminal_columns(FILE *out) {
    struct winsize window;
    int fd = fileno(out);
    if (fd < 0 || !isatty(fd) || ioctl(fd, TIOCGWINSZ, &window) < 0 || !window.ws_col ||
        window.ws_col > TERMINAL_COLUMNS)
        return TERMINAL_COLUMNS;
    return window.ws_col < TERMINAL_COLUMNS_MIN ? TERMINAL_COLUMNS_MIN : window.ws_col;
}

/* A number and its percent sign stay together. */
static size_t word_size(const char *text) {
    size_t size = strcspn(text, " ");
    if (text[size] == ' ' && text[size + 1] == '%')
        size += 1 + strcspn(text + size + 1, " ");
    return size;
}

/* Words of text after `used` columns of the first line, to lines of so many columns; out NULL: only
 * counts the lines. */
static size_t lay_words(FILE *out, size_t columns, const char *text, size_t indent, size_t used,
                        size_t max_lines) {
    size_t lines = 1;
    bool first = true;
    while (*(text += strspn(text, " "))) {
        size_t size = word_size(text), width = put(NULL, text, size, 0);
        bool last_line = max_lines && lines == max_lines;
        /* the last line keeps room for "...", unless all that is left fits */
        bool rest_fits = used + 1 + terminal_width(text) <= columns;
        if (!first && used + 1 + width + (last_line && !rest_fits ? 4 : 0) > columns) {
            if (last_line) {
                put(out, " ...", 4, 0);
                break;
            }
            if (out)
                fprintf(out, "\n%*s", (int)indent, "");
            used = indent;
            lines++;
            first = true;
        }
        if (!first)
            used += put(out, " ", 1, 0);
        used += put(out, text, size, used < columns ? columns - used : 1);
        first = false;
        text += size;
    }
    if (out)
        fputc('\n', out);
    return lines;
}

static size_t put_words(FILE *out, const char *text, size_t indent, size_t used, size_t max_lines) {
    return lay_words(out, terminal_columns(out), text, indent, used, max_lines);
}

size_t terminal_paragraph_lines(FILE *out, const char *label, const char *text) {
    size_t indent = terminal_width(label);
    return lay_words(NULL, terminal_columns(out), text, indent, indent, 0);
}

size_t terminal_paragraph(FILE *out, const char *label, const char *text, size_t max_lines) {
    size_t indent = terminal_width(label);
    terminal_put(out, label, 0);
    return put_words(out, text, indent, indent, max_lines);
}

size_t terminal_coloured_paragraph(FILE *out, const char *colour, size_t highlight,
                                   const char *text, size_t max_lines) {
    fprintf(out, "%s%.*s%s", colour ? colour : "", (int)highlight, text, colour ? "\033[0m" : "");
    /* the word the highlight ends in goes on */
    size_t rest = word_size(text + highlight);
    fwrite(text + highlight, 1, rest, out);
    if (text[highlight + rest])
        fputc(' ', out);
    return put_words(out, text + highlight + rest, 2, highlight + rest + 1, max_lines);
}

/* ---- tables ---- */

void text_table_init(struct text_table *table, size_t rows, size_t columns) {
    *table = (struct text_table){.rows = rows,
                                 .columns = columns,
                                 .cells = calloc(rows * columns + 1, sizeof *table->cells),
                                 .left = calloc(columns + 1, sizeof *table->left),
                                 .shrink = -1};
    table->failed = !table->cells || !table->left;
    if (table->left)
        table->left[0] = true;
}

void text_table_release(struct text_table *table) {
    for (size_t i = 0; table->cells && i < table->rows * table->columns; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table->left);
}

void text_table_set(struct text_table *table, size_t row, size_t column, const char *format, ...) {
    va_list args;
    if (table->failed)
        return;
    char **cell = &table->cells[row * table->columns + column];
    free(*cell);
    va_start(args, format);
    if (vasprintf(cell, format, args) < 0) {
        *cell = NULL;
        table->failed = true;
    }
    va_end(args);
}

void text_table_number(struct text_table *table, size_t row, size_t column, double value) {
    char number[LAYOUT_NUMBER_SIZE];
    text_table_set(table, row, column, "%s", layout_number(number, value));
}

static const char *cell(const struct text_table *table, size_t row, size_t column) {
    const char *text = table->cells[row * table->columns + column];
    return text ? text : "";
}

#define CELL_MAX 40

static size_t column_width(const struct text_table *table, size_t column) {
    size_t width = 0;
    for (size_t r = 0; r < table->rows; r++) {
        size_t own = terminal_width(cell(table, r, column));
        width = own > width ? own : width;
    }
    return width > CELL_MAX && (int)column != table->shrink ? CELL_MAX : width;
}

/* The end of the row's last cell that is not empty: no blanks at the end of a line. */
static size_t row_end(const struct text_table *table, size_t row, size_t from, size_t to) {
    while (to > from && !cell(table, row, to - 1)[0])
        to--;
    return to;
}

static void print_row(const struct text_table *table, FILE *out, size_t row, const size_t *widths,
                      size_t from, size_t to) {
    size_t end = row_end(table, row, from, to);
    if (end == from && table->left[0])
        terminal_put(out, cell(table, row, 0), widths[0]);
    else
        terminal_put_cell(out, cell(table, row, 0), widths[0], !table->left[0]);
    for (size_t c = from; c < end; c++) {
        fputs("  ", out);
        if (table->left[c] && c + 1 == end)
            terminal_put(out, cell(table, row, c), widths[c]);
        else
            terminal_put_cell(out, cell(table, row, c), widths[c], !table->left[c]);
    }
    fputc('\n', out);
}

static void print_block(const struct text_table *table, FILE *out, size_t indent,
                        const size_t *widths, size_t from, size_t to) {
    for (size_t r = 0; r < table->rows; r++) {
        fprintf(out, "%*s", (int)indent, "");
        print_row(table, out, r, widths, from, to);
    }
}

static size_t total(const size_t *widths, size_t n, size_t indent) {
    size_t sum = indent;
    for (size_t c = 0; c < n; c++)
        sum += widths[c] + (c ? 2 : 0);
    return sum;
}

static void print_blocks(const struct text_table *table, FILE *out, size_t indent,
                         const size_t *widths) {
    size_t columns = terminal_columns(out);
    for (size_t from = 1, to; from < table->columns; from = to) {
        size_t used = indent + widths[0];
        for (to = from; to < table->columns; to++) {
            if (to > from && used + 2 + widths[to] > columns)
                break;
            used += 2 + widths[to];
        }
        if (from > 1)
            fputc('\n', out);
        print_block(table, out, indent, widths, from, to);
    }
}

void text_table_print(const struct text_table *table, FILE *out, size_t indent) {
    size_t *widths = table->failed ? NULL : calloc(table->columns + 1, sizeof *widths);
    if (!widths)
        return;
    for (size_t c = 0; c < table->columns; c++)
        widths[c] = column_width(table, c);
    size_t all = total(widths, table->columns, indent), columns = terminal_columns(out);
    if (table->shrink >= 0 && all > columns) {
        size_t too_much = all - columns, *width = &widths[table->shrink];
        *width = *width > too_much + 8 ? *width - too_much : *width < 8 ? *width : 8;
    }
    print_blocks(table, out, indent, widths);
    free(widths);
}
