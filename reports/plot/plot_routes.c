/* SPDX-License-Identifier: MIT */
/* F2: traffic of the connections between hosts: all pairs, in as much detail as there is room for.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "reports/plot/colour.h"
#include "reports/plot/gnuplot.h"
#include "reports/plot/heat.h"
#include "reports/plot/plot.h"

#define NAME_MAX_SHOWN 26 /* characters of the legend */

static void put_lines(FILE *out, const struct report *report) {
    fprintf(out,
            "set xrange [0:%.7g]\nset yrange [0:*]\nset ylabel 'MB/s'\nset tmargin 3\n"
            "set xlabel 'seconds since the command started' offset 0,0.5\n"
            "set key outside right top\nplot ",
            report_end_s(report));
    for (size_t i = 0; i < report->n_routes; i++) {
        fprintf(out, "%s$r%zu using 1:2 with lines lw 1.2 lc rgb '%s' title ", i ? ", " : "", i,
                script_colour(i));
        script_put_short(out, report->routes[i].series.label, NAME_MAX_SHOWN);
    }
    fputc('\n', out);
}

static struct plot *plot_lines(const struct report *report) {
    struct script script;
    if (script_open(&script, 330) < 0)
        return NULL;
    for (size_t i = 0; i < report->n_routes; i++) {
        char name[32];
        snprintf(name, sizeof name, "r%zu", i);
        script_put_series(script.file, name, &report->routes[i].series, report_end_s(report));
    }
    script_put_phases(script.file, report);
    script_put_phase_words(script.file, report, 0.98);
    put_lines(script.file, report);
    return script_close(&script);
}

static void fill_row(const struct report *report, size_t row, const void *ctx, double *values,
                     size_t n) {
    (void)ctx;
    series_add_bin_means(&report->routes[row].series, report_end_s(report), values, n);
}

static const char *row_name(const struct report *report, size_t row, const void *ctx) {
    (void)ctx;
    return report->routes[row].series.label;
}

static struct plot *plot_square(const struct report *report) {
    size_t n = report->n_hosts;
    double *means = malloc((n * n + 1) * sizeof *means);
    if (!means)
        return errno = ENOMEM, NULL;
    for (size_t i = 0; i < n * n; i++)
        means[i] = NAN;
    for (size_t i = 0; i < report->n_routes; i++)
        means[(size_t)report->routes[i].from * n + (size_t)report->routes[i].to] =
            report->routes[i].mean_mb_s;
    struct plot *plot = heat_plot_square(report, means, "MB/s");
    free(means);
    return plot;
}

struct plot *plot_routes(const struct report *report) {
    static const struct heat_map rows = {
        .unit = "MB/s", .colour = COLOUR_TRANSFER, .fill = fill_row, .name = row_name};
    struct heat_map map = rows;
    char which[80] = "";
    if (!report->n_routes)
        return script_no_data();
    map.rows = report->n_routes;
    struct plot *plot = report->n_routes <= PLOT_ROUTE_LINES_MAX  ? plot_lines(report)
                        : report->n_routes <= PLOT_ROUTE_ROWS_MAX ? heat_plot(report, &map)
                                                                  : plot_square(report);
    if (report->n_routes < report->n_routes_all)
        snprintf(which, sizeof which, ", the %zu of %zu pairs that moved most", report->n_routes,
                 report->n_routes_all);
    return plot_titled(plot, "Between hosts: what the job's TCP connections carried%s%s",
                       report->n_routes > PLOT_ROUTE_ROWS_MAX ? ", mean over the run" : "", which);
}
