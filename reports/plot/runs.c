/* SPDX-License-Identifier: MIT */
#include "reports/plot/runs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model/layout.h"
#include "reports/plot/drawing.h"
#include "reports/plot/gnuplot.h"

#define RIGHT 900 /* of 980: leaves room for the mean after a bar */
#define ROW 52
#define BAR 22
#define FOOT 30

static double mean_of(const struct runs_row *row) {
    double sum = 0;
    for (size_t i = 0; i < row->n_runs; i++)
        sum += row->runs[i];
    return row->n_runs ? sum / (double)row->n_runs : 0;
}

static double longest(const struct runs_row *rows, size_t n) {
    double most = 0;
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < rows[r].n_runs; i++)
            most = fmax(most, rows[r].runs[i]);
    return most;
}

static double x_of_seconds(double seconds, double top) {
    return RUNS_LEFT + (RIGHT - RUNS_LEFT) * seconds / top;
}

static void put_run_axis(FILE *out, double top, int height) {
    double step = drawing_step(top, 8);
    for (double t = 0; t <= top * 1.0001; t += step) {
        char text[32];
        snprintf(text, sizeof text, "%.4g%s", t, t == 0 ? " s" : "");
        fprintf(out, "<path class=\"axis\" d=\"M%.1f 0V%d\"/>", x_of_seconds(t, top),
                height - FOOT + 4);
        drawing_put_text(out, x_of_seconds(t, top), height - 10, "middle", "small", text, 20);
    }
}

/* Parts without known terms become one grey part. */
static void put_bar(FILE *out, const struct runs_row *row, double top, double y) {
    double at = 0;
    for (size_t i = 0; i < row->n_parts; i++) {
        double width = x_of_seconds(row->parts[i].seconds, top) - RUNS_LEFT;
        if (width > 0.05)
            fprintf(out,
                    "<rect class=\"part\" x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" "
                    "style=\"fill:%s\"/>",
                    x_of_seconds(at, top), y, width, BAR, row->parts[i].colour);
        at += fmax(0, row->parts[i].seconds);
    }
    if (!row->n_parts)
        fprintf(out,
                "<rect class=\"part\" x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" "
                "style=\"fill:none\"/>",
                RUNS_LEFT, y, x_of_seconds(mean_of(row), top) - RUNS_LEFT, BAR);
}

/* ---- what the colours are ---- */

#define KEYS_MAX 16
#define KEY_COLUMNS 3
#define KEY_ROW 18
#define KEY_SHARE .005 /* of the longest run: a smaller part is not visible */

struct keys {
    const struct runs_part *parts[KEYS_MAX];
    size_t n;
};

static void add_key(struct keys *keys, const struct runs_part *part) {
    for (size_t i = 0; i < keys->n; i++)
        if (strcmp(keys->parts[i]->name, part->name) == 0)
            return;
    if (keys->n < KEYS_MAX)
        keys->parts[keys->n++] = part;
}

static struct keys keys_of(const struct runs_row *rows, size_t n, double top) {
    struct keys keys = {.n = 0};
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < rows[r].n_parts; i++)
            if (rows[r].parts[i].seconds > KEY_SHARE * top)
                add_key(&keys, &rows[r].parts[i]);
    return keys;
}

static int keys_height(const struct keys *keys) {
    return KEY_ROW * (int)((keys->n + KEY_COLUMNS - 1) / KEY_COLUMNS);
}

static void put_keys(FILE *out, const struct keys *keys, double y) {
    for (size_t i = 0; i < keys->n; i++) {
        size_t line = i / KEY_COLUMNS;
        double x = RUNS_LEFT + (double)(i % KEY_COLUMNS) * (980 - RUNS_LEFT) / KEY_COLUMNS;
        double row = y + KEY_ROW * (double)line;
        fprintf(out,
                "<rect class=\"part\" x=\"%.0f\" y=\"%.0f\" width=\"10\" height=\"10\" "
                "style=\"fill:%s\"/>",
                x, row + 2, keys->parts[i]->colour);
        drawing_put_text(out, x + 15, row + 11, "start", "small", keys->parts[i]->name, 34);
    }
}

/* ---- runs ---- */

/* A point for each run, and a line from the shortest to the longest. */
static void put_runs(FILE *out, const struct runs_row *row, double top, double y) {
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < row->n_runs; i++) {
        low = fmin(low, row->runs[i]);
        high = fmax(high, row->runs[i]);
        fprintf(out, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>",
                x_of_seconds(row->runs[i], top), y);
    }
    if (row->n_runs > 1)
        fprintf(out, "<path class=\"span\" d=\"M%.1f %.1fv8m0-4H%.1fm0-4v8\"/>",
                x_of_seconds(low, top), y - 4, x_of_seconds(high, top));
}

char *runs_draw(const struct runs_row *rows, size_t n) {
    double top = longest(rows, n);
    char *svg = NULL, mean[LAYOUT_NUMBER_SIZE + 2];
    size_t size;
    int height = (int)n * ROW + FOOT;
    struct keys keys = keys_of(rows, n, top);
    FILE *out = top > 0 ? open_memstream(&svg, &size) : NULL;
    if (!out)
        return errno = top > 0 ? ENOMEM : ENODATA, NULL;
    top = axis_round_up(top);
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 980 %d\" class=\"runs\">",
            height + keys_height(&keys));
    put_run_axis(out, top, height);
    put_keys(out, &keys, height);
    for (size_t r = 0; r < n; r++) {
        double y = ROW * (double)r + 8;
        drawing_put_text(out, RUNS_LEFT - 8, y + 15, "end", "name", rows[r].name, 26);
        put_bar(out, &rows[r], top, y);
        put_runs(out, &rows[r], top, y + BAR + 8);
        snprintf(mean, sizeof mean, "%.3g s", mean_of(&rows[r]));
        drawing_put_text(out, x_of_seconds(mean_of(&rows[r]), top) + 6, y + 15, "start", "small",
                         mean, 20);
    }
    fputs("</svg>\n", out);
    return fclose(out) == 0 ? svg : (errno = ENOMEM, NULL);
}
