/* SPDX-License-Identifier: MIT */
/*
 * Text for a terminal: nothing from outside moves the cursor, columns line up whatever the script a
 * name is written in, and nothing is wider than TERMINAL_COLUMNS.
 */
#ifndef CHOKEPOINT_REPORTS_TERMINAL_H
#define CHOKEPOINT_REPORTS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TERMINAL_COLUMNS 100
#define TERMINAL_COLUMNS_MIN 60

/* How wide lines to `out` may be: as a narrower terminal is, down to TERMINAL_COLUMNS_MIN; else
 * TERMINAL_COLUMNS. */
size_t terminal_columns(FILE *out);

/* The first character of size > 0 bytes: its bytes and columns; *ret_show is false if '?' stands
 * for it. */
size_t terminal_next(const char *text, size_t size, size_t *ret_columns, bool *ret_show);

/* Columns the text takes: two for wide characters of East Asia and pictures, none for marks. */
size_t terminal_width(const char *text);

/* The text, control characters and bad UTF-8 as '?'. At most `width` columns (0: no limit). */
void terminal_put(FILE *out, const char *text, size_t width);

/* In exactly `width` columns, cut or padded. */
void terminal_put_cell(FILE *out, const char *text, size_t width, bool right);

/* Words wrapped at TERMINAL_COLUMNS; the first line follows `label`, the others are indented by its
 * width. A command in backticks is not broken, so that it can be pasted. At most max_lines lines
 * (0: no limit), the last one then ends in "...". Returns lines. */
size_t terminal_paragraph(FILE *out, const char *label, const char *text, size_t max_lines);

/* The same where the label has been written, in so many columns. */
size_t terminal_hanging(FILE *out, size_t label_width, const char *text, size_t max_lines);

/* The same without a label, in lines of so many columns, of which the first has so many less. On
 * such a screen nothing is pasted, so a command that is wider than a line is broken. */
size_t terminal_lay(FILE *out, size_t columns, size_t used, const char *text, size_t max_lines);

/* How many lines that takes without a limit. */
size_t terminal_paragraph_lines(FILE *out, const char *label, const char *text);

/* The same without a label; the first `highlight` bytes of the text (they must be ours) in a
 * colour, an escape sequence or NULL. */
size_t terminal_coloured_paragraph(FILE *out, const char *colour, size_t highlight,
                                   const char *text, size_t max_lines);

#endif
