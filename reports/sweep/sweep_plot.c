/* SPDX-License-Identifier: MIT */
/*
 * A measure of a sweep: the second parameter's values along the axis, a line for each of the
 * first's, with intervals; a sweep of one parameter has a single line. Other parameters are at
 * their first value. Values that are no numbers are not connected, so those of a single parameter
 * are bars, with their figures above: one may be a hundred times another.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "reports/model/layout.h"
#include "reports/plot/gnuplot.h"
#include "reports/plot/plot.h"
#include "reports/sweep/sweep_write.h"

#define LINES_MAX 12
#define TICKS_MAX 40
#define FAR_APART 50

struct axes {
    const struct store_sweep_parameter *lines, *ticks; /* lines NULL: only one parameter */
    size_t n_lines, n_ticks, step;                     /* step: cells of one tick */
    bool bars;
};

static bool are_numbers(const struct store_sweep_parameter *parameter) {
    double value;
    for (size_t i = 0; i < parameter->n_values; i++)
        if (text_parse_double(parameter->values[i], &value) < 0)
            return false;
    return true;
}

static struct axes choose_axes(const struct sweep *sweep) {
    const struct store_sweep *of = &sweep->of;
    bool several = of->n_parameters > 1;
    struct axes axes = {.lines = several ? &of->parameters[0] : NULL,
                        .ticks = &of->parameters[several ? 1 : 0],
                        .n_lines = several ? of->parameters[0].n_values : 1};
    axes.n_ticks = axes.ticks->n_values;
    axes.step = sweep->n_cells / (axes.n_lines * axes.n_ticks);
    axes.bars = !several && !are_numbers(axes.ticks);
    return axes;
}

static size_t put_line(FILE *out, const struct sweep *sweep, const struct axes *axes, size_t line,
                       size_t measure) {
    size_t points = 0;
    fprintf(out, "$l%zu << EOD\n", line);
    for (size_t t = 0; t < axes->n_ticks; t++) {
        const struct sweep_cell *cell = &sweep->cells[(line * axes->n_ticks + t) * axes->step];
        const struct sweep_figure *f = &cell->figures[measure];
        if (!isfinite(f->median))
            continue;
        char number[LAYOUT_NUMBER_SIZE];
        fprintf(out, "%zu %.8g %.8g %.8g %s\n", t, f->median, f->low, f->high,
                layout_number(number, f->median));
        points++;
    }
    fputs(points ? "EOD\n" : "0 NaN NaN NaN -\nEOD\n", out);
    return points;
}

/* Whether its lines fall or rise so far that on a linear scale the low ones would lie on the axis.
 */
static bool needs_logarithm(const struct sweep *sweep, const struct axes *axes, size_t measure) {
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < axes->n_lines * axes->n_ticks; i++) {
        const struct sweep_figure *f = &sweep->cells[i * axes->step].figures[measure];
        if (!isfinite(f->median))
            continue;
        low = fmin(low, f->low);
        high = fmax(high, f->high);
    }
    return !axes->bars && low > 0 && high > FAR_APART * low;
}

static void put_axes(FILE *out, const struct sweep *sweep, const struct axes *axes,
                     size_t measure) {
    fputs("set xlabel ", out);
    script_put_string(out, axes->ticks->name);
    fputs("\nset ylabel ", out);
    script_put_string(out, sweep->measures[measure].title);
    bool logarithm = needs_logarithm(sweep, axes, measure);
    fprintf(out,
            "\nset xrange [-0.5:%zu.5]\n%sset yrange [%s:*%s]\nset key above left horizontal "
            "samplen 1.5\n"
            "set boxwidth 0.3\n%sset xtics (",
            axes->n_ticks - 1, logarithm ? "set logscale y\n" : "", logarithm ? "*" : "0",
            strcmp(sweep->measures[measure].name, "accuracy") ? "" : "<100",
            axes->bars ? "set tmargin 2\nset offsets 0, 0, graph 0.1, 0\n" : "");
    for (size_t t = 0; t < axes->n_ticks; t++) {
        fputs(t ? ", " : "", out);
        script_put_string(out, axes->ticks->values[t]);
        fprintf(out, " %zu", t);
    }
    fputs(")\n", out);
}

static void put_title(FILE *out, const struct axes *axes, size_t line) {
    char title[2 * SWEEP_TEXT_MAX];
    if (!axes->lines) {
        fputs("notitle", out);
        return;
    }
    snprintf(title, sizeof title, "%s %s", axes->lines->name, axes->lines->values[line]);
    fputs("title ", out);
    script_put_string(out, title);
}

struct plot *sweep_plot(const struct sweep *sweep, size_t measure) {
    struct script script;
    size_t points = 0;
    if (!sweep->n_cells)
        return script_no_data();
    struct axes axes = choose_axes(sweep);
    axes.n_ticks = axes.n_ticks > TICKS_MAX ? 0 : axes.n_ticks;
    if (!axes.n_ticks || axes.n_lines > LINES_MAX)
        return script_no_data();
    if (script_open(&script, 320) < 0)
        return NULL;
    for (size_t l = 0; l < axes.n_lines; l++)
        points += put_line(script.file, sweep, &axes, l, measure);
    put_axes(script.file, sweep, &axes, measure);
    fputs("plot ", script.file);
    for (size_t l = 0; l < axes.n_lines; l++) {
        fprintf(script.file,
                "%s$l%zu using 1:2 with %s lc rgb '%s' notitle, $l%zu using 1:2:3:4 with "
                "yerrorbars pt 7 ps 0.5 lw 1.2 lc rgb '%s' ",
                l ? ", " : "", l, axes.bars ? "boxes fs solid 0.35" : "lines lw 1.4",
                script_colour(l), l, script_colour(l));
        put_title(script.file, &axes, l);
    }
    if (axes.bars)
        fputs(", $l0 using 1:4:5 with labels offset 0,0.8 tc rgb '#333333' notitle", script.file);
    fputc('\n', script.file);
    struct plot *plot = script_close(&script);
    if (!points) {
        plot_free(plot);
        return script_no_data();
    }
    return plot;
}
