/* SPDX-License-Identifier: MIT */
/*
 * A picture of characters in memory, for a terminal or a file: the drawing code knows neither. Text
 * from outside cannot move the cursor or change the direction of writing, and columns are aligned
 * in every script.
 */
#ifndef CHOKEPOINT_CLI_TOP_CANVAS_H
#define CHOKEPOINT_CLI_TOP_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Meanings of colours, the same everywhere; only the limit is red. */
enum role {
    ROLE_PLAIN,
    ROLE_DIM,
    ROLE_BOLD,
    ROLE_HEAD, /* head of a table */
    ROLE_COMPUTING,
    ROLE_CORE_WAIT,
    ROLE_PEER_WAIT,
    ROLE_TRANSFER,
    ROLE_DISK,
    ROLE_MEMORY,
    ROLE_GPU,
    ROLE_ASLEEP,
    ROLE_LIMIT,
    ROLE_COUNT_
};

#define CELL_BYTES 5

struct cell {
    char text[CELL_BYTES]; /* one character; "" right of a wide one */
    uint8_t role;
    bool solid; /* the colour fills the cell, as part of a bar */
};

struct canvas {
    size_t rows, columns;
    bool utf8; /* false: ASCII only */
    struct cell *cells;
    size_t chosen; /* row that is marked; SIZE_MAX: none */
};

int canvas_init(struct canvas *canvas, size_t rows, size_t columns, bool utf8); /* -ENOMEM */
void canvas_release(struct canvas *canvas);
void canvas_clear(struct canvas *canvas);

/* Writes text from a column on, in at most `width` columns and not beyond the edge. Returns the
 * number of columns used. */
size_t canvas_put(struct canvas *canvas, size_t row, size_t column, size_t width, enum role role,
                  const char *text);
/* As canvas_text, at the right end of that width. */
void canvas_put_right(struct canvas *canvas, size_t row, size_t column, size_t width,
                      enum role role, const char *text);
size_t canvas_print(struct canvas *canvas, size_t row, size_t column, size_t width, enum role role,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));
/* A single own character in one cell, filled with its colour. */
void canvas_fill(struct canvas *canvas, size_t row, size_t column, enum role role, char letter);
/* "[|||| ]": a part 0..1 of the width; nothing for NAN. */
void canvas_bar(struct canvas *canvas, size_t row, size_t column, size_t width, enum role role,
                double share);
/* A row of blanks in that role, to be overwritten: the head of a table. */
void canvas_stripe(struct canvas *canvas, size_t row, enum role role);

/* Writes plain text, without blanks at the ends of lines. 0, -EIO. */
int canvas_write(const struct canvas *canvas, size_t rows, FILE *out);

#endif
