/* SPDX-License-Identifier: MIT */
/* Cells of a table of runs on a terminal. */
#ifndef CHOKEPOINT_CLI_CELLS_H
#define CHOKEPOINT_CLI_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counts characters, not bytes, as the terminal does; wide ones count once. */
size_t cell_width(const char *text);

/* The bytes of a text that fit into `room` characters, of which the last one may be for "…". */
size_t cell_fit(const char *text, size_t room, bool *ret_cut);

/* Local time "2026-11-20 09:41:11", "?" for a time that is out of range. */
void cell_start(int64_t wall_ns, char *to, size_t size);

/* "31.1 s", "1:01 min", "2:03:04 h"; "-" if it is not known. */
void cell_duration(double seconds, char *to, size_t size);

/* To standard output, with two spaces behind it. right: aligned to the right. */
void cell_print(const char *text, size_t width, bool right);

/* The last field, which gets the rest of the terminal's line, and a new line. used: columns before
 * it; whole: it is not cut. */
void cell_print_rest(const char *text, size_t used, bool whole);

#endif
