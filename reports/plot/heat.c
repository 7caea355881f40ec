/* SPDX-License-Identifier: MIT */
#include "reports/plot/heat.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "reports/plot/colour.h"
#include "reports/plot/gnuplot.h"

#define NAMES_SHOWN_MAX 64 /* rows with room for a name each */
#define NAME_MAX_SHOWN 20  /* characters of a name */
/* With up to so many cells, each is drawn separately (see draw.c): a stretched picture with few
 * pixels is blurred.
 */
#define CRISP_MAX 14000

void series_add_bin_means(const struct report_series *series, double end_s, double *sums,
                          size_t n) {
    struct {
        double sum;
        size_t n;
    } bins[HEAT_BINS] = {0};
    for (size_t i = 0; i < series->n; i++) {
        double at = series->t_s[i] / end_s * (double)n;
        if (isnan(series->value[i]) || at < 0 || at > (double)n)
            continue;
        size_t bin = at >= (double)n ? n - 1 : (size_t)at;
        bins[bin].sum += series->value[i];
        bins[bin].n++;
    }
    for (size_t i = 0; i < n; i++)
        sums[i] += bins[i].n ? bins[i].sum / (double)bins[i].n : NAN;
}

/* Bins are at least as long as the samples' interval, or some would be empty. */
static size_t sampled_bins(const struct report *report) {
    double samples = report->period_s > 0 ? floor(report_end_s(report) / report->period_s) : 1;
    return (size_t)fmax(1, fmin(samples, HEAT_BINS));
}

/* In pixels: with names, each row has room for one. */
static int heat_height(size_t rows) {
    if (rows < 6)
        return 96 + 26 * (int)rows;
    return rows <= NAMES_SHOWN_MAX ? 126 + 15 * (int)rows : rows < 128 ? 206 + 8 * (int)rows : 1226;
}

/* values[row * bins + bin]; the caller frees it. */
static double *values_of(const struct report *report, const struct heat_map *map, size_t bins) {
    double *values = calloc(map->rows * bins + 1, sizeof *values);
    for (size_t row = 0; values && row < map->rows; row++)
        map->fill(report, row, map->ctx, values + row * bins, bins);
    return values;
}

static double colour_top(const double *values, size_t n) {
    double top = 0;
    for (size_t i = 0; i < n; i++)
        top = fmax(top, values[i]); /* fmax ignores NAN */
    return top > 0 ? axis_round_up(top) : 1;
}

/* Draws cells of width x 1 from x = 0 on. */
static void put_cells(FILE *out, const double *values, size_t rows, size_t columns, double width) {
    fputs("$map << EOD\n", out);
    for (size_t row = 0; row < rows; row++)
        for (size_t c = 0; c < columns; c++)
            fprintf(out, "%.6g %zu %.4g\n", ((double)c + 0.5) * width, row,
                    isnan(values[row * columns + c]) ? -1 : values[row * columns + c]);
    fputs("EOD\n", out);
}

static void put_look(FILE *out, double top, const char *unit, const char *colour) {
    fprintf(out,
            "set style fill solid 1 noborder\nset palette defined (0 '#f4f5f7', 1 '%s')\n"
            "set cbrange [0:%.6g]\nset cbtics %.6g\nset cblabel '%s'\n"
            "set colorbox user origin screen 0.915, graph 0 size screen 0.018, graph 1\n"
            "set lmargin at screen 0.17\nset rmargin at screen 0.9\nunset grid\nunset key\n",
            colour, top, top / 2, unit);
}

/* gnuplot makes no image of a single row or column. */
static void put_plot(FILE *out, size_t rows, size_t columns, double width) {
    fprintf(out, "set xrange [0:%.7g]\nset yrange [%.1f:-0.5]\nplot $map using 1:2:",
            (double)columns * width, (double)rows - 0.5);
    if (rows < 2 || columns < 2)
        fprintf(out, "(%.7g):(0.5):($3 < 0 ? NaN : $3) with boxxyerror fs solid 1 palette\n",
                width / 2);
    else
        fprintf(out, "($3 < 0 ? NaN : $3) with image%s\n",
                rows * columns <= CRISP_MAX ? " @crisp" : "");
}

static void put_row_names(FILE *out, const struct report *report, const struct heat_map *map) {
    if (map->rows > NAMES_SHOWN_MAX)
        return;
    fputs("set ytics (", out);
    for (size_t i = 0; i < map->rows; i++) {
        fputs(i ? ", " : "", out);
        script_put_short(out, map->name(report, i, map->ctx), NAME_MAX_SHOWN);
        fprintf(out, " %zu", i);
    }
    fputs(")\n", out);
}

struct plot *heat_plot(const struct report *report, const struct heat_map *map) {
    size_t bins = sampled_bins(report);
    double width = report_end_s(report) / (double)bins, *values = values_of(report, map, bins);
    struct script script;
    if (!values || script_open(&script, heat_height(map->rows)) < 0) {
        free(values);
        return errno = ENOMEM, NULL;
    }
    script.held = PLOT_HELD_NAMES;
    put_cells(script.file, values, map->rows, bins, width);
    put_look(script.file, map->top > 0 ? map->top : colour_top(values, map->rows * bins), map->unit,
             map->colour);
    put_row_names(script.file, report, map);
    fputs("set xlabel 'seconds since the command started' offset 0,0.5\n", script.file);
    put_plot(script.file, map->rows, bins, width);
    free(values);
    return script_close(&script);
}

/* ---- hosts by hosts ---- */

static void put_host_names(FILE *out, const struct report *report, const char *axis,
                           double offset) {
    fprintf(out, "set %s (", axis);
    for (size_t h = 0; h < report->n_hosts; h++) {
        fputs(h ? ", " : "", out);
        script_put_short(out, report->hosts[h].name, NAME_MAX_SHOWN);
        fprintf(out, " %.1f", (double)h + offset);
    }
    fputs(")\n", out);
}

struct plot *heat_plot_square(const struct report *report, const double *values, const char *unit) {
    struct script script;
    size_t n = report->n_hosts;
    if (script_open(&script, heat_height(n) + 120) < 0)
        return errno = ENOMEM, NULL;
    script.held = PLOT_HELD_NAMES;
    put_cells(script.file, values, n, n, 1);
    put_look(script.file, colour_top(values, n * n), unit, COLOUR_TRANSFER);
    if (n <= NAMES_SHOWN_MAX) {
        put_host_names(script.file, report, "ytics", 0);
        put_host_names(script.file, report, "xtics rotate by -45", 0.5);
    }
    fputs("set xlabel 'to'\nset ylabel 'from'\n", script.file);
    put_plot(script.file, n, n, 1);
    return script_close(&script);
}
