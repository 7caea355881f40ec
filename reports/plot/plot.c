/* SPDX-License-Identifier: MIT */
/*
 * F2: what each host's resources did over time. All hosts of a plot share both axes, so that panels
 * compare at a glance.
 */
#include "reports/plot/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "reports/plot/gnuplot.h"

#define PANEL_HEIGHT 92

/* ---- F2: resources ---- */

struct line {
    enum metric metric;
    const char *label, *colour;
};

struct resource_plot {
    const char *title, *unit;
    bool stacked;
    double top; /* of the y axis; 0: the highest value of all hosts */
    struct line lines[4];
    size_t n;
};

static const struct resource_plot resource_plots[PLOT_RESOURCE_COUNT_] = {
    [PLOT_CPU] = {"CPU, all cores of each host",
                  "%",
                  true,
                  100,
                  {{METRIC_CPU_USER, "user", "#3d85c6"},
                   {METRIC_CPU_SYSTEM, "system", "#cc4125"},
                   {METRIC_CPU_IOWAIT, "I/O wait", "#f1c232"},
                   {METRIC_CPU_STEAL, "steal", "#674ea7"}},
                  4},
    [PLOT_NETWORK] = {"Network",
                      "MB/s",
                      false,
                      0,
                      {{METRIC_NET_SEND, "send", "#cc4125"},
                       {METRIC_NET_RECV, "receive", "#3d85c6"}},
                      2},
    [PLOT_MEMORY] = {"Memory",
                     "GB",
                     false,
                     0,
                     {{METRIC_MEM_USED, "used", "#3d85c6"},
                      {METRIC_JOB_MEM, "resident in the job", "#cc4125"}},
                     2},
    [PLOT_DISK] = {"Disk",
                   "MB/s",
                   false,
                   0,
                   {{METRIC_DISK_READ, "read", "#3d85c6"}, {METRIC_DISK_WRITE, "write", "#cc4125"}},
                   2},
    [PLOT_PRESSURE] = {"Pressure (share of time at least one task waited)",
                       "%",
                       false,
                       0,
                       {{METRIC_PSI_CPU, "CPU", "#3d85c6"},
                        {METRIC_PSI_IO, "I/O", "#f1c232"},
                        {METRIC_PSI_MEMORY, "memory", "#cc4125"}},
                       3},
};

const char *plot_resource_title(enum plot_resource resource) {
    return resource_plots[resource].title;
}

static double series_top(const struct report_series *series) {
    double top = 0;
    for (size_t i = 0; i < series->n; i++)
        if (series->value[i] > top)
            top = series->value[i];
    return top;
}

/* The next of 1, 2, 3, 4, 5, 6, 8, 10 times a power of ten, so that half of it reads well, too. */
static double round_up(double value) {
    static const double steps[] = {1, 2, 3, 4, 5, 6, 8};
    double power = pow(10, floor(log10(value)));
    for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
        if (value <= steps[i] * power * (1 + 1e-9))
            return steps[i] * power;
    return 10 * power;
}

/* The upper end of the y axis, common to all hosts so that panels compare. 0: nothing to draw. */
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
    return plot->top > 0 ? plot->top : top > 0 ? round_up(top) : 1;
}

/* Running sums of the lines before and at `upto`, sample by sample (series of one host share
 * times). */
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
    script_put_string(out, report->hosts[host].name);
    fputs(" rotate by 0 offset 1,0 right tc rgb '#333333'\nplot ", out);
    for (size_t k = 0; k < plot->n; k++) {
        size_t i = plot->stacked ? plot->n - 1 - k : k;
        fprintf(out, "%s$h%zul%zu using 1:2 with %s lc rgb '%s' title ", k ? ", " : "", host, i,
                plot->stacked ? "filledcurves x1 fs solid 1" : "lines lw 1.2",
                plot->lines[i].colour);
        script_put_string(out, plot->lines[i].label);
    }
    fputc('\n', out);
}

static void put_panels(FILE *out, const struct report *report, const struct resource_plot *plot,
                       double top, int height) {
    double head = 46.0 / height, foot = 40.0 / height;
    double panel = (1 - head - foot) / (double)report->n_hosts;
    fprintf(out,
            "set xrange [0:%.7g]\nset yrange [0:%.6g]\nset ytics %.6g\nset lmargin at screen 0.13\n"
            "set rmargin at screen 0.985\nset multiplot\nset format x ''\n",
            report_end_s(report), top, top / 2);
    fputs("set format y '%.3g'\n", out);
    script_put_phases(out, report);
    script_put_phase_words(out, report);
    fprintf(out,
            "set key at screen 0.985, screen 0.985 right top horizontal samplen 1.5\n"
            "set label 900 '%s' at screen 0.012, screen 0.975 left tc rgb '#666666'\n",
            plot->unit);
    for (size_t h = 0; h < report->n_hosts; h++) {
        double upper = 1 - head - panel * (double)h;
        fprintf(out, "set tmargin at screen %.4f\nset bmargin at screen %.4f\n",
                upper - 0.06 * panel, upper - 0.94 * panel);
        if (h + 1 == report->n_hosts)
            fputs(
                "set format x '%g'\nset xlabel 'seconds since the command started' offset 0,0.5\n",
                out);
        put_host_panel(out, report, plot, h);
        fputs("unset key\nunset label 900\n", out);
        if (h == 0)
            script_clear_phase_words(out);
    }
    fputs("unset multiplot\n", out);
}

/* Fills n values of one row of a heat map. */
typedef void heat_row(const struct report *report, size_t row, const void *ctx, double *values,
                      size_t n);

/* No finer than the samples, or every other bin would be empty. */
static size_t heat_bins(const struct report *report) {
    double samples = report->period_s > 0 ? floor(report_end_s(report) / report->period_s) : 1;
    return (size_t)fmax(1, fmin(samples, HEAT_BINS));
}

#define CRISP_MAX                                                                                  \
    8000 /* cells drawn one by one: a picture of few is blurred when it is stretched */

static void put_heat_map(FILE *out, const struct report *report, size_t rows, heat_row *fill,
                         const void *ctx) {
    size_t bins = heat_bins(report);
    fputs("$map << EOD\n", out);
    for (size_t row = 0; row < rows; row++) {
        double values[HEAT_BINS] = {0};
        fill(report, row, ctx, values, bins);
        for (size_t bin = 0; bin < bins; bin++)
            fprintf(out, "%.6g %zu %.4g\n",
                    ((double)bin + 0.5) * report_end_s(report) / (double)bins, row,
                    isnan(values[bin]) ? -1 : values[bin]);
    }
    fputs("EOD\n", out);
    fprintf(out,
            "set xrange [0:%.7g]\nset yrange [%.1f:-0.5]\nset xlabel 'seconds since the command "
            "started' offset 0,0.5\nunset grid\nunset key\n"
            "plot $map using 1:2:",
            report_end_s(report), (double)rows - 0.5);
    if (rows < 2 || bins < 2) /* an image of one row is none */
        fprintf(out, "(%.7g):(0.5):($3 < 0 ? NaN : $3) with boxxyerror fs solid 1 palette\n",
                report_end_s(report) / (double)bins / 2);
    else
        fprintf(out, "($3 < 0 ? NaN : $3) with image%s\n",
                rows * bins <= CRISP_MAX ? " pixels" : "");
}

static void fill_resource_row(const struct report *report, size_t row, const void *ctx,
                              double *values, size_t n) {
    const struct resource_plot *plot = ctx;
    for (size_t i = 0; i < plot->n; i++)
        series_add_bin_means(&report->series[row].metrics[plot->lines[i].metric],
                             report_end_s(report), values, n);
}

#define HEAT_PALETTE                                                                               \
    "set palette defined (0 '#f7fbff', 0.25 '#c6dbef', 0.5 '#6baed6', 0.75 '#2171b5', 1 "          \
    "'#08306b')\n"

char *plot_resource(const struct report *report, enum plot_resource resource) {
    const struct resource_plot *plot = &resource_plots[resource];
    double top = report->n_hosts && report->series ? resource_top(report, plot) : 0;
    if (top <= 0)
        return script_no_data();
    bool map = report->n_hosts > PLOT_HOSTS_MAX;
    int height = map ? 420 : 90 + PANEL_HEIGHT * (int)report->n_hosts;
    struct script script;
    if (script_open(&script, height) < 0)
        return NULL;
    if (map) {
        fprintf(script.file,
                HEAT_PALETTE "set cbrange [0:%.6g]\nset cblabel '%s'\nset ylabel 'host'\n", top,
                plot->unit);
        put_heat_map(script.file, report, report->n_hosts, fill_resource_row, plot);
        return script_run(&script);
    }
    for (size_t h = 0; h < report->n_hosts; h++)
        put_host_data(script.file, report, plot, h);
    put_panels(script.file, report, plot, top, height);
    return script_run(&script);
}

/* ---- F2: cores ---- */

static void fill_core_row(const struct report *report, size_t row, const void *ctx, double *values,
                          size_t n) {
    size_t host = *(const size_t *)ctx;
    series_add_bin_means(&report->series[host].cores[row], report_end_s(report), values, n);
}

char *plot_cores(const struct report *report, size_t host) {
    size_t cores = report->series ? report->series[host].n_cores : 0;
    if (!cores)
        return script_no_data();
    struct script script;
    int height = 96 + (int)(cores < 6 ? cores * 26 : cores < 128 ? cores * 8 + 110 : 1130);
    if (script_open(&script, height) < 0)
        return NULL;
    fputs(HEAT_PALETTE "set cbrange [0:100]\nset cbtics 50\nset cblabel '% busy'\nset title ",
          script.file);
    script_put_string(script.file, report->hosts[host].name);
    fputs(" offset 0,-0.6\nset lmargin at screen 0.13\nset rmargin at screen 0.9\n", script.file);
    if (cores <= 16) {
        fputs("set ytics (", script.file);
        for (size_t i = 0; i < cores; i++) {
            fputs(i ? ", " : "", script.file);
            script_put_string(script.file, report->series[host].cores[i].label);
            fprintf(script.file, " %zu", i);
        }
        fputs(")\n", script.file);
    }
    put_heat_map(script.file, report, cores, fill_core_row, &host);
    return script_run(&script);
}
