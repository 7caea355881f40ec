/* SPDX-License-Identifier: MIT */
/* F3, the iterations of each rank, and F1, what the program said of itself, a curve a run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/gnuplot.h"
#include "reports/plot.h"

#define TITLE_MAX 128

/* ---- F3 and F1 ---- */

static const char *const curve_colours[] = {"#3d85c6", "#cc4125", "#6aa84f", "#f1c232",
                                            "#674ea7", "#45818e", "#a64d79", "#7f6000"};

static const char *curve_colour(size_t i) {
    return curve_colours[i % ARRAY_SIZE(curve_colours)];
}

/* The y axis of iterations: a first iteration that loads data must not flatten all others. */
static double iterations_top(const struct report *report) {
    double top = 0;
    for (size_t r = 0; r < report->n_ranks; r++) {
        double highest = 0;
        for (size_t i = 0; i < report->ranks[r].n; i++)
            highest = fmax(highest, report->ranks[r].duration_s[i]);
        double fair = report->ranks[r].p95_s > 0 ? report->ranks[r].p95_s * 2 : highest;
        top = fmax(top, fmin(highest, fair) * 1.1);
    }
    return top;
}

char *plot_iterations(const struct report *report) {
    size_t points = 0;
    for (size_t r = 0; r < report->n_ranks; r++)
        points += report->ranks[r].n;
    struct script script;
    if (!points)
        return script_no_data();
    if (script_open(&script, 340) < 0)
        return NULL;
    FILE *out = script.file;
    for (size_t r = 0; r < report->n_ranks; r++) {
        struct report_series series = {.n = report->ranks[r].n,
                                       .t_s = report->ranks[r].end_s,
                                       .value = report->ranks[r].duration_s};
        char name[32];
        snprintf(name, sizeof name, "r%zu", r);
        script_put_series(out, name, &series, report_end_s(report));
    }
    script_put_phases(out, report);
    script_put_phase_words(out, report);
    fprintf(out,
            "set xrange [0:%.7g]\nset yrange [0:%.6g]\nset ylabel 'iteration time (s)'\n"
            "set xlabel 'seconds since the command started' offset 0,0.5\nset tmargin 3\n"
            "set key outside right top\nplot ",
            report_end_s(report), iterations_top(report));
    for (size_t r = 0; r < report->n_ranks; r++) {
        char title[TITLE_MAX];
        const struct report_rank *rank = &report->ranks[r];
        const char *host = rank->host >= 0 && (size_t)rank->host < report->n_hosts
                               ? report->hosts[rank->host].name
                               : "?";
        snprintf(title, sizeof title, "rank %d, %s", rank->rank, host);
        fprintf(out, "%s$r%zu using 1:2 with linespoints pt 7 ps 0.3 lw 1 lc rgb '%s' title ",
                r ? ", " : "", r, curve_colour(r));
        script_put_string(out, title);
    }
    fputc('\n', out);
    return script_run(&script);
}

/* The curve of that name with the most points: the rank that judges the model. */
static const struct report_curve *find_curve(const struct report *report, const char *name) {
    const struct report_curve *found = NULL;
    for (size_t i = 0; i < report->n_curves; i++)
        if (strcmp(report->curves[i].name, name) == 0 && (!found || report->curves[i].n > found->n))
            found = &report->curves[i];
    return found;
}

static size_t put_curve(FILE *out, size_t run, const struct report_curve *curve,
                        bool against_time) {
    size_t points = 0;
    fprintf(out, "$c%zu << EOD\n", run);
    for (size_t i = 0; curve && i < curve->n; i++) {
        double x = against_time ? curve->t_s[i] : curve->iteration[i];
        if (isnan(x) || isnan(curve->value[i]))
            continue;
        fprintf(out, "%.8g %.8g\n", x, curve->value[i]);
        points++;
    }
    fputs(points ? "EOD\n" : "0 NaN\nEOD\n", out);
    return points;
}

struct range {
    double low, high;
};

static struct range range_of(const struct report *const *reports, size_t n, const char *name) {
    double low = INFINITY, high = 0;
    for (size_t run = 0; run < n; run++) {
        const struct report_curve *curve = find_curve(reports[run], name);
        for (size_t i = 0; curve && i < curve->n; i++) {
            low = fmin(low, curve->value[i]);
            high = fmax(high, curve->value[i]);
        }
    }
    return (struct range){low, high};
}

/* Whether the axis begins at zero: an accuracy of 0.70 to 0.76 has a shape only without it, a
 * count of updates only with it, and what hardly changes has none. */
static bool from_zero(struct range range) {
    return range.low >= 0 && (range.low < 0.4 * range.high || range.low > 0.99 * range.high);
}

char *plot_curve(const struct report *const *reports, size_t n, const char *name,
                 bool against_time) {
    struct script script;
    if (script_open(&script, 320) < 0)
        return NULL;
    struct range range = range_of(reports, n, name);
    size_t points = 0;
    for (size_t i = 0; i < n; i++)
        points += put_curve(script.file, i, find_curve(reports[i], name), against_time);
    fprintf(script.file,
            "set xlabel '%s' offset 0,0.5\nset xrange [0:*]\nset yrange [%s:*]\n"
            "set offsets 0, graph 0.02, graph 0.08, 0\nset key outside right top\n",
            against_time ? "seconds since the command started" : "iteration",
            from_zero(range) ? "0" : "*");
    if (range.high >= 1e5)
        fputs("set format y '%.1s %c'\n", script.file);
    fputs("set ylabel ", script.file);
    script_put_string(script.file, name);
    fputs("\nplot ", script.file);
    for (size_t i = 0; i < n; i++) {
        fprintf(script.file,
                "%s$c%zu using 1:2 with linespoints pt 7 ps 0.5 lw 1.6 lc rgb '%s' title ",
                i ? ", " : "", i, curve_colour(i));
        script_put_string(script.file, reports[i]->run_name ? reports[i]->run_name : "?");
    }
    fputc('\n', script.file);
    char *svg = script_run(&script);
    if (!points) {
        free(svg);
        return script_no_data();
    }
    return svg;
}
