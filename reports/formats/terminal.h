/* SPDX-License-Identifier: MIT */
/*
 * Text for a terminal: nothing from outside moves the cursor, columns line up in any script, and
 * nothing is wider than TERMINAL_COLUMNS.
 */
#ifndef CHOKEPOINT_REPORTS_TERMINAL_H
#define CHOKEPOINT_REPORTS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TERMINAL_COLUMNS 100
#define TERMINAL_COLUMNS_MIN 60

/* The maximum width of lines to `out`: that of a narrower terminal, at least TERMINAL_COLUMNS_MIN;
 * else TERMINAL_COLUMNS.
 */
size_t terminal_columns(FILE *out);

/* The first character of size > 0 bytes: its bytes and columns; *ret_show is false if it is
 * replaced by '?'.
 */
size_t terminal_next(const char *text, size_t size, size_t *ret_columns, bool *ret_show);

/* Columns of the text: two for East Asian wide characters and pictographs, none for combining
 * marks.
 */
size_t terminal_width(const char *text);

/* Writes the text, with control characters and bad UTF-8 as '?', in at most `width` columns (0: no
 * limit).
 */
void terminal_put(FILE *out, const char *text, size_t width);

/* Writes the text in exactly `width` columns, cut or padded. */
void terminal_put_cell(FILE *out, const char *text, size_t width, bool right);

/* Wraps words at TERMINAL_COLUMNS; the first line follows `label`, the others are indented by its
 * width. A command in backticks is not broken, so that it can be pasted. At most max_lines lines
 * (0: no limit); a cut text ends in "...". Returns the number of lines.
 */
size_t terminal_paragraph(FILE *out, const char *label, const char *text, size_t max_lines);

/* The same after a label of that many columns was written. */
size_t terminal_hanging(FILE *out, size_t label_width, const char *text, size_t max_lines);

/* The same without a label, in lines of `columns`, of which the first has `used` fewer. Nothing is
 * pasted from such a screen, so a command wider than a line is broken.
 */
size_t terminal_lay(FILE *out, size_t columns, size_t used, const char *text, size_t max_lines);

/* The number of lines without a limit. */
size_t terminal_paragraph_lines(FILE *out, const char *label, const char *text);

/* The same without a label; the first `highlight` bytes of the text (they must be ours) are in a
 * colour, an escape sequence or NULL.
 */
size_t terminal_coloured_paragraph(FILE *out, const char *colour, size_t highlight,
                                   const char *text, size_t max_lines);

#endif
