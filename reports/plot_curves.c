/* SPDX-License-Identifier: MIT */
/* F3, the iterations of each rank, and F1, what the program said of itself, a curve a run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/curve.h"
#include "reports/gnuplot.h"
#include "reports/plot.h"

#define TITLE_MAX 128

/* ---- F3 and F1 ---- */

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
                r ? ", " : "", r, script_colour(r));
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

static size_t put_points(FILE *out, char kind, size_t run, const double *xs, const double *ys,
                         size_t n) {
    size_t points = 0;
    fprintf(out, "$%c%zu << EOD\n", kind, run);
    for (size_t i = 0; xs && i < n; i++) {
        if (isnan(xs[i]) || isnan(ys[i]))
            continue;
        fprintf(out, "%.8g %.8g\n", xs[i], ys[i]);
        points++;
    }
    fputs(points ? "EOD\n" : "0 NaN\nEOD\n", out);
    return points;
}

/* Its points, and where those jump their running mean. */
static size_t put_curve(FILE *out, size_t run, const struct report *report, const char *name,
                        enum plot_axis axis, bool *ret_mean) {
    const struct report_curve *curve = find_curve(report, name);
    double *updates = curve && axis == PLOT_UPDATES ? curve_counts(report, curve, "updates") : NULL;
    double *means = curve ? curve_running_mean(curve) : NULL;
    const double *xs = !curve                   ? NULL
                       : axis == PLOT_TIME      ? curve->t_s
                       : axis == PLOT_ITERATION ? curve->iteration
                                                : updates;
    size_t points =
        put_points(out, 'c', run, xs, curve ? curve->value : NULL, curve ? curve->n : 0);
    *ret_mean = means != NULL;
    if (means)
        put_points(out, 'm', run, xs, means, curve->n);
    free(means);
    free(updates);
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

static void put_curve_axes(FILE *out, const char *name, struct range range, enum plot_axis axis) {
    static const char *const labels[] = {[PLOT_TIME] = "seconds since the command started",
                                         [PLOT_ITERATION] = "iteration",
                                         [PLOT_UPDATES] = "updates of the model"};
    /* a share of 1 has nothing above it */
    const char *limit = strcmp(name, "accuracy") == 0 && range.high <= 1 ? "<1" : "";
    fprintf(out,
            "set xlabel '%s' offset 0,0.5\nset xrange [0:*]\nset yrange [%s:*%s]\n"
            "set offsets 0, graph 0.02, graph 0.08, 0\nset key outside right top\n",
            labels[axis], from_zero(range) ? "0" : "*", limit);
    if (range.high >= 1e5)
        fputs("set format y '%.1s %c'\n", out);
    fputs("set ylabel ", out);
    script_put_string(out, name);
}

/* One run's line, or its running mean over its points. */
static void put_curve_style(FILE *out, size_t run, bool mean, const char *title) {
    const char *colour = script_colour(run), *comma = run ? ", " : "";
    if (mean)
        fprintf(out,
                "%s$c%zu using 1:2 with points pt 7 ps 0.25 lc rgb '#c0%s' notitle, "
                "$m%zu using 1:2 with lines lw 1.6 lc rgb '%s' title ",
                comma, run, colour + 1, run, colour);
    else
        fprintf(out, "%s$c%zu using 1:2 with linespoints pt 7 ps 0.5 lw 1.6 lc rgb '%s' title ",
                comma, run, colour);
    script_put_string(out, title);
    fputs(mean ? ".', running mean'" : "", out);
}

char *plot_curve(const struct report *const *reports, const char *const *titles, size_t n,
                 const char *name, enum plot_axis axis) {
    struct script script;
    bool *means = calloc(n + 1, sizeof *means);
    size_t points = 0;
    if (!means || script_open(&script, 320) < 0) {
        free(means);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        points += put_curve(script.file, i, reports[i], name, axis, &means[i]);
    put_curve_axes(script.file, name, range_of(reports, n, name), axis);
    fputs("\nplot ", script.file);
    for (size_t i = 0; i < n; i++) {
        const char *run = titles ? titles[i] : reports[i]->run_name ? reports[i]->run_name : "?";
        put_curve_style(script.file, i, means[i], run);
    }
    free(means);
    fputc('\n', script.file);
    char *svg = script_run(&script);
    if (!points) {
        free(svg);
        return script_no_data();
    }
    return svg;
}
