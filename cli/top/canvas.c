/* SPDX-License-Identifier: MIT */
#include "cli/top/canvas.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/terminal.h"

int canvas_init(struct canvas *canvas, size_t rows, size_t columns, bool utf8) {
    *canvas = (struct canvas){.rows = rows, .columns = columns, .utf8 = utf8};
    canvas->cells = malloc((rows * columns + 1) * sizeof *canvas->cells);
    if (!canvas->cells)
        return -ENOMEM;
    canvas_clear(canvas);
    return 0;
}

void canvas_release(struct canvas *canvas) {
    free(canvas->cells);
    *canvas = (struct canvas){0};
}

void canvas_clear(struct canvas *canvas) {
    for (size_t i = 0; i < canvas->rows * canvas->columns; i++)
        canvas->cells[i] = (struct cell){.text = " "};
    canvas->chosen = SIZE_MAX;
}

static struct cell *cell_at(const struct canvas *canvas, size_t row, size_t column) {
    return &canvas->cells[row * canvas->columns + column];
}

/* Half of a wide character is replaced by a blank. */
static void put_cell(struct canvas *canvas, size_t row, size_t column, enum role role,
                     const char *text, size_t bytes, size_t columns) {
    struct cell *cell = cell_at(canvas, row, column);
    *cell = (struct cell){.role = (uint8_t)role};
    memcpy(cell->text, text, bytes);
    if (columns == 2)
        cell[1] = (struct cell){.role = (uint8_t)role};
}

size_t canvas_put(struct canvas *canvas, size_t row, size_t column, size_t width, enum role role,
                  const char *text) {
    size_t size = text ? strlen(text) : 0, used = 0, columns;
    bool show;
    if (row >= canvas->rows || column >= canvas->columns)
        return 0;
    if (width > canvas->columns - column)
        width = canvas->columns - column;
    while (size) {
        size_t bytes = terminal_next(text, size, &columns, &show);
        if (show && (bytes >= CELL_BYTES || (!canvas->utf8 && bytes > 1)))
            show = false;
        if (columns == 2 && !show)
            columns = 1;
        if (used + columns > width)
            break;
        if (columns) /* combining marks are left out */
            put_cell(canvas, row, column + used, role, show ? text : "?", show ? bytes : 1,
                     columns);
        used += columns;
        text += bytes;
        size -= bytes;
    }
    return used;
}

void canvas_put_right(struct canvas *canvas, size_t row, size_t column, size_t width,
                      enum role role, const char *text) {
    size_t own = terminal_width(text);
    size_t pad = own < width ? width - own : 0;
    canvas_put(canvas, row, column + pad, width - pad, role, text);
}

size_t canvas_print(struct canvas *canvas, size_t row, size_t column, size_t width, enum role role,
                    const char *format, ...) {
    char text[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return canvas_put(canvas, row, column, width, role, text);
}

void canvas_fill(struct canvas *canvas, size_t row, size_t column, enum role role, char letter) {
    if (row >= canvas->rows || column >= canvas->columns)
        return;
    *cell_at(canvas, row, column) =
        (struct cell){.text = {letter}, .role = (uint8_t)role, .solid = true};
}

void canvas_bar(struct canvas *canvas, size_t row, size_t column, size_t width, enum role role,
                double share) {
    if (width < 3)
        return;
    size_t inside = width - 2;
    double part = share > 0 ? fmin(share, 1) * (double)inside : 0;
    size_t full = (size_t)lround(part);
    if (!full && share > 0.005)
        full = 1;
    canvas_put(canvas, row, column, 1, ROLE_PLAIN, "[");
    for (size_t i = 0; i < full; i++)
        canvas_put(canvas, row, column + 1 + i, 1, role, "|");
    canvas_put(canvas, row, column + width - 1, 1, ROLE_PLAIN, "]");
}

void canvas_stripe(struct canvas *canvas, size_t row, enum role role) {
    for (size_t c = 0; row < canvas->rows && c < canvas->columns; c++)
        *cell_at(canvas, row, c) = (struct cell){.text = " ", .role = (uint8_t)role};
}

static size_t line_length(const struct canvas *canvas, size_t row) {
    size_t n = canvas->columns;
    while (n && strcmp(cell_at(canvas, row, n - 1)->text, " ") == 0)
        n--;
    return n;
}

int canvas_write(const struct canvas *canvas, size_t rows, FILE *out) {
    for (size_t r = 0; r < rows && r < canvas->rows; r++) {
        size_t n = line_length(canvas, r);
        for (size_t c = 0; c < n; c++)
            fputs(cell_at(canvas, r, c)->text, out);
        fputc('\n', out);
    }
    return fflush(out) == 0 && !ferror(out) ? 0 : -EIO;
}
