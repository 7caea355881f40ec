/* SPDX-License-Identifier: MIT */
#include "reports/formats/terminal.h"

#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/error.h"
#include "common/text.h"

/* Rough ranges of Unicode 15's East Asian Wide and emoji; and of characters that combine with the
 * one before.
 */
static const uint32_t wide[][2] = {
    {0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
static const uint32_t zero[][2] = {{0x0300, 0x036f}, {0x20d0, 0x20ff}, {0xfe20, 0xfe2f}};

static bool within(const uint32_t (*ranges)[2], size_t n, uint32_t code) {
    for (size_t i = 0; i < n; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

size_t terminal_next(const char *text, size_t size, size_t *ret_columns, bool *ret_show) {
    uint32_t code;
    size_t bytes = text_char(text, size, &code);
    *ret_show = code != 0;
    *ret_columns = !code                                  ? 1
                   : within(zero, ARRAY_SIZE(zero), code) ? 0
                   : within(wide, ARRAY_SIZE(wide), code) ? 2
                                                          : 1;
    return bytes;
}

/* Writes the text in at most `width` columns (0: no limit) and returns its columns; out NULL: only
 * counts.
 */
static size_t put_columns(FILE *out, const char *text, size_t size, size_t width) {
    size_t used = 0, columns;
    bool show;
    while (size) {
        size_t bytes = terminal_next(text, size, &columns, &show);
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
    return put_columns(NULL, text, strlen(text), 0);
}

void terminal_put(FILE *out, const char *text, size_t width) {
    put_columns(out, text, strlen(text), width);
}

void terminal_put_cell(FILE *out, const char *text, size_t width, bool right) {
    size_t own = terminal_width(text);
    size_t pad = own < width ? width - own : 0;
    if (right)
        fprintf(out, "%*s", (int)pad, "");
    size_t used = width ? put_columns(out, text, strlen(text), width) : 0;
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

/* A number and its percent sign stay together, and so does a command in backticks. */
static size_t word_size(const char *text) {
    size_t size = strcspn(text, " ");
    const char *command = memchr(text, '`', size);
    const char *end = command ? strchr(command + 1, '`') : NULL;
    if (end && (size_t)(end - text) > size)
        size = (size_t)(end - text) + strcspn(end, " ");
    if (text[size] == ' ' && text[size + 1] == '%')
        size += 1 + strcspn(text + size + 1, " ");
    return size;
}

/* The part of a word that fits into a whole line. */
static size_t part_size(const char *text, size_t columns) {
    size_t size = strcspn(text, " "), used = 0, at = 0, width;
    bool show;
    while (at < size) {
        size_t bytes = terminal_next(text + at, size - at, &width, &show);
        if (used + width > columns)
            break;
        used += width;
        at += bytes;
    }
    return at ? at : size;
}

/* Lays words of text into lines of that many columns, after `used` columns of the first line; out
 * NULL: only counts the lines. A word wider than a line is broken, except a command, which stays
 * whole.
 */
static size_t lay_words(FILE *out, size_t columns, const char *text, size_t indent, size_t used,
                        size_t max_lines, bool breaks) {
    size_t lines = 1;
    bool first = true;
    while (*(text += strspn(text, " "))) {
        size_t size = word_size(text), width = put_columns(NULL, text, size, 0);
        if (breaks && width > columns) {
            size = part_size(text, columns);
            width = put_columns(NULL, text, size, 0);
        }
        bool last_line = max_lines && lines == max_lines;
        /* the last line keeps room for "...", unless the rest fits */
        bool rest_fits = used + 1 + terminal_width(text) <= columns;
        if (!first && used + 1 + width + (last_line && !rest_fits ? 4 : 0) > columns) {
            if (last_line) {
                put_columns(out, " ...", 4, 0);
                break;
            }
            if (out)
                fprintf(out, "\n%*s", (int)indent, "");
            used = indent;
            lines++;
            first = true;
        }
        if (!first)
            used += put_columns(out, " ", 1, 0);
        used += put_columns(out, text, size,
                            memchr(text, '`', size) ? 0
                            : used < columns        ? columns - used
                                                    : 1);
        first = false;
        text += size;
    }
    if (out)
        fputc('\n', out);
    return lines;
}

static size_t put_words(FILE *out, const char *text, size_t indent, size_t used, size_t max_lines) {
    return lay_words(out, terminal_columns(out), text, indent, used, max_lines, false);
}

size_t terminal_lay(FILE *out, size_t columns, size_t used, const char *text, size_t max_lines) {
    return lay_words(out, columns, text, 0, used, max_lines, true);
}

size_t terminal_paragraph_lines(FILE *out, const char *label, const char *text) {
    size_t indent = terminal_width(label);
    return lay_words(NULL, terminal_columns(out), text, indent, indent, 0, false);
}

size_t terminal_hanging(FILE *out, size_t label_width, const char *text, size_t max_lines) {
    return put_words(out, text, label_width, label_width, max_lines);
}

size_t terminal_paragraph(FILE *out, const char *label, const char *text, size_t max_lines) {
    size_t indent = terminal_width(label);
    terminal_put(out, label, 0);
    return terminal_hanging(out, indent, text, max_lines);
}

size_t terminal_coloured_paragraph(FILE *out, const char *colour, size_t highlight,
                                   const char *text, size_t max_lines) {
    fprintf(out, "%s%.*s%s", colour ? colour : "", (int)highlight, text, colour ? "\033[0m" : "");
    /* the word in which the highlight ends continues */
    size_t rest = word_size(text + highlight);
    fwrite(text + highlight, 1, rest, out);
    if (text[highlight + rest])
        fputc(' ', out);
    return put_words(out, text + highlight + rest, 2, highlight + rest + 1, max_lines);
}
