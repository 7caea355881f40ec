/* SPDX-License-Identifier: MIT */
/*
 * A picture of characters in memory, which a terminal or a file is then given: the drawing code
 * knows neither. Nothing from outside moves the cursor or turns the direction of writing, and
 * columns line up whatever the script a name is written in.
 */
#ifndef CHOKEPOINT_CLI_TOP_CANVAS_H
#define CHOKEPOINT_CLI_TOP_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Meanings of colours, the same everywhere; nothing but the limit is red. */
enum role {
    ROLE_PLAIN,
    ROLE_DIM,
    ROLE_BOLD,
    ROLE_HEAD, /* of a table */
    ROLE_COMPUTING,
    ROLE_CORE_WAIT,
    ROLE_PEER_WAIT,
    ROLE_TRANSFER,
    ROLE_DISK,
    ROLE_MEMORY,
    ROLE_ASLEEP,
    ROLE_LIMIT,
    ROLE_COUNT_
};

#define CELL_BYTES 5

struct cell {
    char text[CELL_BYTES]; /* one character; "" right of a wide one */
    uint8_t role;
    bool solid; /* the colour fills the cell, part of a bar */
};

struct canvas {
    size_t rows, columns;
    bool utf8; /* else ASCII alone */
    struct cell *cells;
    size_t chosen; /* this row is marked; SIZE_MAX: none */
};

int canvas_init(struct canvas *canvas, size_t rows, size_t columns, bool utf8); /* -ENOMEM */
void canvas_release(struct canvas *canvas);
void canvas_clear(struct canvas *canvas);

/* Text from a column on, in at most `width` columns and not beyond the edge. Returns the columns it
 * took. */
size_t canvas_put(struct canvas *canvas, size_t row, size_t column, size_t width, enum role role,
                  const char *text);
/* The same, at the right end of that width. */
void canvas_put_right(struct canvas *canvas, size_t row, size_t column, size_t width,
                      enum role role, const char *text);
size_t canvas_print(struct canvas *canvas, size_t row, size_t column, size_t width, enum role role,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));
/* A character of ours in one cell, filled with its colour. */
void canvas_fill(struct canvas *canvas, size_t row, size_t column, enum role role, char letter);
/* "[||||     ]": so much of the width, 0..1; NAN is nothing. */
void canvas_bar(struct canvas *canvas, size_t row, size_t column, size_t width, enum role role,
                double share);
/* A row of blanks in that role, to be written over: the head of a table. */
void canvas_stripe(struct canvas *canvas, size_t row, enum role role);

/* As plain text, blanks at the ends of lines left out. 0, -EIO. */
int canvas_write(const struct canvas *canvas, size_t rows, FILE *out);

#endif
