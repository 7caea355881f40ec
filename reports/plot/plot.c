/* SPDX-License-Identifier: MIT */
/* F2: each host's resources over time. All hosts of a plot share both axes, so that panels can be
 * compared.
 */
#include "reports/plot/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/plot/colour.h"
#include "reports/plot/gnuplot.h"
#include "reports/plot/heat.h"
#include "reports/plot/resource.h"

#define PANEL_HEIGHT 98
#define NAME_MAX_SHOWN 18 /* characters of a host's name beside its panel */

/* ---- F2: resources ---- */

static double series_top(const struct report_series *series) {
    double top = 0;
    for (size_t i = 0; i < series->n; i++)
        if (series->value[i] > top)
            top = series->value[i];
    return top;
}

/* ---- ceilings ---- */

#define CEILING_FAR                                                                                \
    2.5 /* times the highest value: a ceiling further away would flatten the curves */

static const struct report_ceiling *ceiling_of(const struct report *report,
                                               const struct resource_plot *plot, size_t host,
                                               size_t line) {
    const struct report_ceiling *ceiling = &report->series[host].ceilings[plot->lines[line].metric];
    return ceiling->value > 0 ? ceiling : NULL;
}

/* Ceilings of both directions that look the same are drawn as one line. */
static bool same_ceiling(const struct report_ceiling *a, const struct report_ceiling *b) {
    return a && b && a->known == b->known && fabs(a->value - b->value) < 0.03 * a->value;
}

/* The highest ceiling near enough to the values to be shown; 0 if there is none. */
static double ceilings_top(const struct report *report, const struct resource_plot *plot,
                           double reached) {
    double top = 0;
    for (size_t h = 0; h < report->n_hosts; h++)
        for (size_t i = 0; i < plot->n; i++) {
            const struct report_ceiling *ceiling = ceiling_of(report, plot, h, i);
            if (ceiling && ceiling->value <= CEILING_FAR * reached)
                top = fmax(top, ceiling->value);
        }
    return top;
}

static void put_ceiling_lines(FILE *out, const struct report *report,
                              const struct resource_plot *plot, size_t host) {
    for (size_t i = 0; i < plot->n; i++) {
        const struct report_ceiling *ceiling = ceiling_of(report, plot, host, i);
        bool both = i && same_ceiling(ceiling, ceiling_of(report, plot, host, i - 1));
        if (ceiling && !both)
            fprintf(out, ", %.7g with lines dt 2 lw 1.2 lc rgb '" COLOUR_LIMIT "' notitle",
                    ceiling->value);
    }
}

/* A line of words in the panel about the ceilings: what the lines are, or how far above the panel
 * they are.
 */
static void put_ceiling_words(FILE *out, const struct report *report,
                              const struct resource_plot *plot, size_t host) {
    const char *separator = "ceiling: ";
    char words[256] = "";
    for (size_t i = 0; i < plot->n; i++) {
        const struct report_ceiling *ceiling = ceiling_of(report, plot, host, i);
        bool both = i + 1 < plot->n && same_ceiling(ceiling, ceiling_of(report, plot, host, i + 1));
        size_t used = strlen(words);
        if (!ceiling || (i && same_ceiling(ceiling, ceiling_of(report, plot, host, i - 1))))
            continue;
        snprintf(words + used, sizeof words - used, "%s%s%s%s %.4g %s (%s)", separator,
                 plot->lines[i].label, both ? " and " : "", both ? plot->lines[i + 1].label : "",
                 ceiling->value, plot->unit, report_arithmetic_rate(ceiling->known));
        separator = ", ";
    }
    fputs("unset label 901\n", out);
    if (!*words)
        return;
    fputs("set label 901 ", out);
    script_put_string(out, words);
    fputs(" at graph 0.995, graph 0.87 right front boxed font ',9' tc rgb '#222222'\n", out);
}

/* The upper end of the y axis, common to all hosts. 0: there is nothing to draw. */
static double resource_top(const struct report *report, const struct resource_plot *plot) {
    double top = 0;
    size_t points = 0;
    for (size_t h = 0; h < report->n_hosts; h++)
        for (size_t i = 0; i < plot->n; i++) {
            const struct report_series *series = &report->series[h].metrics[plot->lines[i].metric];
            points += series->n;
            top = fmax(top, series_top(series));
        }
    if (!points)
        return 0;
    if (plot->top > 0)
        return plot->top;
    double line = ceilings_top(report, plot, top);
    return line > 0 ? axis_round_up(fmax(1.35 * line, top)) : top > 0 ? axis_round_up(top) : 1;
}

/* Sums of the lines up to and including `upto`, sample by sample (series of one host have the same
 * times).
 */
static struct report_series stacked_series(const struct report_host_series *host,
                                           const struct resource_plot *plot, size_t upto) {
    const struct report_series *first = &host->metrics[plot->lines[0].metric];
    struct report_series sum = {.n = first->n, .t_s = first->t_s};
    sum.value = calloc(sum.n + 1, sizeof *sum.value);
    if (!sum.value) {
        sum.n = 0;
        return sum;
    }
    for (size_t i = 0; i < sum.n; i++)
        for (size_t k = 0; k <= upto; k++) {
            const struct report_series *part = &host->metrics[plot->lines[k].metric];
            double value = i < part->n ? part->value[i] : 0;
            sum.value[i] += isnan(value) && k > 0 ? 0 : value;
        }
    return sum;
}

static void put_host_data(FILE *out, const struct report *report, const struct resource_plot *plot,
                          size_t host) {
    for (size_t i = 0; i < plot->n; i++) {
        char name[48];
        snprintf(name, sizeof name, "h%zul%zu", host, i);
        if (plot->stacked) {
            struct report_series sum = stacked_series(&report->series[host], plot, i);
            script_put_series(out, name, &sum, report_end_s(report));
            free(sum.value);
        } else {
            script_put_series(out, name, &report->series[host].metrics[plot->lines[i].metric],
                              report_end_s(report));
        }
    }
}

static void put_host_panel(FILE *out, const struct report *report, const struct resource_plot *plot,
                           size_t host) {
    fputs("set ylabel ", out);
    script_put_short(out, report->hosts[host].name, NAME_MAX_SHOWN);
    fputs(" rotate by 0 offset 1,0 right tc rgb '#333333'\nplot ", out);
    for (size_t k = 0; k < plot->n; k++) {
        size_t i = plot->stacked ? plot->n - 1 - k : k;
        fprintf(out, "%s$h%zul%zu using 1:2 with %s lc rgb '%s' title ", k ? ", " : "", host, i,
                plot->stacked ? "filledcurves x1 fs solid 1" : "lines lw 1.2",
                plot->lines[i].colour);
        script_put_string(out, plot->lines[i].label);
    }
    put_ceiling_lines(out, report, plot, host);
    fputc('\n', out);
}

#define HEAD 24 /* in pixels: the legends */
#define FOOT 42 /* in pixels: numbers and name of the time axis */

static void put_host_panels(FILE *out, const struct report *report,
                            const struct resource_plot *plot, double top) {
    fprintf(out,
            "set xrange [0:%.7g]\nset yrange [0:%.6g]\nset ytics %.6g\nset lmargin at screen 0.17\n"
            "set rmargin at screen 0.985\nset format x ''\n",
            report_end_s(report), top, top / 2);
    fputs("set format y '%.4g'\n", out);
    script_put_phases(out, report);
    script_put_phase_words(out, report, 0.62);
    fprintf(out,
            "set key at screen 0.985, screen px(2) right top horizontal samplen 1.5\n"
            "set label 900 '%s' at screen 0.012, screen px(10) left tc rgb '#666666'\n",
            plot->unit);
    for (size_t h = 0; h < report->n_hosts; h++) {
        double upper = HEAD + PANEL_HEIGHT * (double)h;
        fprintf(out, "set tmargin at screen px(%.1f)\nset bmargin at screen px(%.1f)\n",
                upper + 0.09 * PANEL_HEIGHT, upper + 0.91 * PANEL_HEIGHT);
        if (h + 1 == report->n_hosts)
            fputs(
                "set format x '%g'\nset xlabel 'seconds since the command started' offset 0,0.5\n",
                out);
        put_ceiling_words(out, report, plot, h);
        put_host_panel(out, report, plot, h);
        fputs("unset key\nunset label 900\n", out);
        if (h == 0)
            script_clear_phase_words(out);
    }
}

static void fill_resource_row(const struct report *report, size_t row, const void *ctx,
                              double *values, size_t n) {
    const struct resource_plot *plot = ctx;
    for (size_t i = 0; i < (plot->apart ? 1 : plot->n); i++)
        series_add_bin_means(&report->series[row].metrics[plot->lines[i].metric],
                             report_end_s(report), values, n);
}

static const char *host_name(const struct report *report, size_t row, const void *ctx) {
    (void)ctx;
    return report->hosts[row].name;
}

static struct plot *plot_host_map(const struct report *report, const struct resource_plot *plot) {
    struct heat_map map = {.rows = report->n_hosts,
                           .unit = plot->unit,
                           .top = plot->top,
                           .colour = plot->lines[0].colour,
                           .fill = fill_resource_row,
                           .name = host_name,
                           .ctx = plot};
    return plot_titled(heat_plot(report, &map), plot->apart ? "%s" : "%s, the sum of each host",
                       plot->title);
}

struct plot *plot_resource(const struct report *report, enum plot_resource resource) {
    const struct resource_plot *plot = &resource_plots[resource];
    double top = report->n_hosts && report->series ? resource_top(report, plot) : 0;
    struct script script;
    if (top <= 0)
        return script_no_data();
    if (report->n_hosts > PLOT_HOSTS_MAX)
        return plot_host_map(report, plot);
    if (script_open(&script, HEAD + FOOT + PANEL_HEIGHT * (int)report->n_hosts) < 0)
        return NULL;
    script.held = PLOT_HELD_NAMES;
    for (size_t h = 0; h < report->n_hosts; h++)
        put_host_data(script.file, report, plot, h);
    put_host_panels(script.file, report, plot, top);
    return plot_titled(script_close(&script), "%s", plot->title);
}

/* ---- F2: cores ---- */

static void fill_core_row(const struct report *report, size_t row, const void *ctx, double *values,
                          size_t n) {
    size_t host = *(const size_t *)ctx;
    series_add_bin_means(&report->series[host].cores[row], report_end_s(report), values, n);
}

static const char *core_name(const struct report *report, size_t row, const void *ctx) {
    return report->series[*(const size_t *)ctx].cores[row].label;
}

struct plot *plot_cores(const struct report *report, size_t host) {
    if (!report->series || !report->series[host].n_cores)
        return script_no_data();
    struct heat_map map = {.rows = report->series[host].n_cores,
                           .unit = "% busy",
                           .top = 100,
                           .colour = COLOUR_COMPUTING,
                           .fill = fill_core_row,
                           .name = core_name,
                           .ctx = &host};
    return plot_titled(heat_plot(report, &map), "How busy each core of %s was",
                       report->hosts[host].name);
}

/* ---- F2: GPUs ---- */

struct gpu_at {
    size_t host, gpu;
};

/* Where the row's GPU is; host SIZE_MAX: nowhere. */
static struct gpu_at gpu_at(const struct report *report, size_t row) {
    for (size_t h = 0; h < report->n_hosts; row -= report->series[h++].n_gpus)
        if (row < report->series[h].n_gpus)
            return (struct gpu_at){h, row};
    return (struct gpu_at){SIZE_MAX, 0};
}

static void fill_gpu_row(const struct report *report, size_t row, const void *ctx, double *values,
                         size_t n) {
    struct gpu_at at = gpu_at(report, row);
    (void)ctx;
    series_add_bin_means(&report->series[at.host].gpus[at.gpu], report_end_s(report), values, n);
}

static const char *gpu_name(const struct report *report, size_t row, const void *ctx) {
    struct gpu_at at = gpu_at(report, row);
    (void)ctx;
    return report->series[at.host].gpus[at.gpu].label;
}

/* One GPU has its curves, and its row of the map. */
struct plot *plot_gpus(const struct report *report) {
    size_t n = 0;
    for (size_t h = 0; report->series && h < report->n_hosts; h++)
        n += report->series[h].n_gpus;
    if (n < 2)
        return script_no_data();
    struct heat_map map = {.rows = n,
                           .unit = "%",
                           .top = 100,
                           .colour = COLOUR_GPU,
                           .fill = fill_gpu_row,
                           .name = gpu_name};
    return plot_titled(heat_plot(report, &map), "How full each GPU was");
}
