/* SPDX-License-Identifier: MIT */
/* F3, the iterations of each rank, and F1, the program's marks, a curve for each run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/model/layout.h"
#include "reports/plot/curve.h"
#include "reports/plot/gnuplot.h"
#include "reports/plot/plot.h"

#define TITLE_MAX 128
#define DOTS_MAX 120 /* on a line: more dots hide it, and make a page large */

/* The upper end of the y axis of iterations: a first iteration that loads data must not flatten all
 * others.
 */
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

#define RANKS_NAMED_MAX 24
#define NAME_MAX_SHOWN 24 /* characters of a legend */

/* Instead of the last name it shows how many more there are. */
static void put_rank_title(FILE *out, const struct report *report, size_t r) {
    char title[TITLE_MAX];
    bool last = r + 1 == RANKS_NAMED_MAX && report->n_ranks > RANKS_NAMED_MAX;
    if (r >= RANKS_NAMED_MAX) {
        fputs("notitle", out);
        return;
    }
    const char *host = layout_host(report, report->ranks[r].host);
    if (report->ranks[r].rank < 0)
        snprintf(title, sizeof title, "the program, %s", host);
    else
        snprintf(title, sizeof title, "rank %d, %s", report->ranks[r].rank, host);
    if (last)
        snprintf(title, sizeof title, "%zu more ranks", report->n_ranks - r);
    fputs("title ", out);
    script_put_short(out, title, NAME_MAX_SHOWN);
}

struct plot *plot_iterations(const struct report *report) {
    size_t points = 0;
    for (size_t r = 0; r < report->n_ranks; r++)
        points += report->ranks[r].n;
    struct script script;
    if (!points)
        return script_no_data();
    size_t named = report->n_ranks < RANKS_NAMED_MAX ? report->n_ranks : RANKS_NAMED_MAX;
    if (script_open(&script, named > 14 ? 130 + 15 * (int)named : 340) < 0)
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
    script_put_phase_words(out, report, 0.98);
    fprintf(out,
            "set xrange [0:%.7g]\nset yrange [0:%.6g]\nset ylabel 'iteration time (s)'\n"
            "set xlabel 'seconds since the command started' offset 0,0.5\nset tmargin 3\n"
            "set key outside right top\nplot ",
            report_end_s(report), iterations_top(report));
    for (size_t r = 0; r < report->n_ranks; r++) {
        fprintf(out, "%s$r%zu using 1:2 with %s lw 1 lc rgb '%s' ", r ? ", " : "", r,
                report->ranks[r].n > DOTS_MAX ? "lines" : "linespoints pt 7 ps 0.3",
                script_colour(r));
        put_rank_title(out, report, r);
    }
    fputc('\n', out);
    return plot_titled(script_close(&script), "Duration of each iteration, by rank");
}

/* The curve with that name that has most points: it comes from the rank that judges the model. */
static const struct report_curve *find_curve(const struct report *report, const char *name) {
    const struct report_curve *found = NULL;
    for (size_t i = 0; i < report->n_curves; i++)
        if (strcmp(report->curves[i].name, name) == 0 && (!found || report->curves[i].n > found->n))
            found = &report->curves[i];
    return found;
}

#define POINTS_DRAWN 400 /* pairs of points; more would lie on one another */

/* Writes the lowest and the highest of those points that have a position, in their order. */
static void put_extremes(FILE *out, const double *xs, const double *ys, size_t n) {
    size_t low = n, high = n;
    for (size_t i = 0; i < n; i++) {
        if (isnan(xs[i]) || isnan(ys[i]))
            continue;
        low = low == n || ys[i] < ys[low] ? i : low;
        high = high == n || ys[i] > ys[high] ? i : high;
    }
    if (low == n)
        return;
    size_t first = low < high ? low : high, last = low < high ? high : low;
    fprintf(out, "%.8g %.8g\n", xs[first], ys[first]);
    if (last != first)
        fprintf(out, "%.8g %.8g\n", xs[last], ys[last]);
}

/* Returns their number. */
static size_t put_points(FILE *out, char kind, size_t run, const double *xs, const double *ys,
                         size_t n) {
    size_t points = 0, step = n > 2 * POINTS_DRAWN ? (n + POINTS_DRAWN - 1) / POINTS_DRAWN : 1;
    fprintf(out, "$%c%zu << EOD\n", kind, run);
    for (size_t i = 0; xs && i < n; i += step)
        put_extremes(out, xs + i, ys + i, i + step < n ? step : n - i);
    for (size_t i = 0; xs && i < n; i++)
        points += !isnan(xs[i]) && !isnan(ys[i]);
    fputs(points ? "EOD\n" : "0 NaN\nEOD\n", out);
    return points;
}

/* One line of a picture. */
struct drawn {
    const struct report *report;
    const struct report_curve *curve; /* NULL: no rank marked it */
    const char *title;
    bool mean;  /* shown by its running mean */
    bool dots;  /* its points are far enough apart for dots */
    double end; /* its last position; NAN: none */
};

/* Writes its points and, if those jump, their running mean. */
static size_t put_curve(FILE *out, size_t line, struct drawn *d, enum plot_axis axis) {
    const struct report_curve *curve = d->curve;
    double *updates =
        curve && axis == PLOT_UPDATES ? curve_counts(d->report, curve, "updates") : NULL;
    double *means = curve ? curve_running_mean(curve) : NULL;
    const double *xs = !curve                   ? NULL
                       : axis == PLOT_TIME      ? curve->t_s
                       : axis == PLOT_ITERATION ? curve->iteration
                                                : updates;
    size_t points =
        put_points(out, 'c', line, xs, curve ? curve->value : NULL, curve ? curve->n : 0);
    d->mean = means != NULL;
    d->dots = points <= DOTS_MAX;
    d->end = NAN;
    for (size_t i = 0; xs && i < curve->n; i++)
        d->end = fmax(d->end, xs[i]); /* fmax ignores NAN */
    if (means)
        put_points(out, 'm', line, xs, means, curve->n);
    free(means);
    free(updates);
    return points;
}

struct range {
    double low, high;
};

static struct range range_of(const struct drawn *drawn, size_t n) {
    double low = INFINITY, high = 0;
    for (size_t line = 0; line < n; line++)
        for (size_t i = 0; drawn[line].curve && i < drawn[line].curve->n; i++) {
            low = fmin(low, drawn[line].curve->value[i]);
            high = fmax(high, drawn[line].curve->value[i]);
        }
    return (struct range){low, high};
}

/* Whether the axis begins at zero: an accuracy of 0.70 to 0.76 has a visible shape only without
 * zero, a count of updates only with it.
 */
static bool from_zero(struct range range) {
    return range.low >= 0 && (range.low < 0.4 * range.high || range.low >= 0.99 * range.high);
}

#define FAR_APART 20

/* With a dozen updates beside ten thousands, the short curve would lie on the axis of a common
 * linear scale. Zero, where training begins, stays in the picture.
 */
static void put_counts_axis(FILE *out, const struct drawn *drawn, size_t n) {
    double shortest = INFINITY, longest = 0;
    for (size_t i = 0; i < n; i++) {
        shortest = drawn[i].end > 0 ? fmin(shortest, drawn[i].end) : shortest;
        longest = fmax(longest, drawn[i].end);
    }
    if (!(longest > FAR_APART * shortest) || longest > 1e15)
        return;
    fprintf(out,
            "set xrange [0:%.8g]\nset nonlinear x via log10(1+x) inverse 10**x-1\nset xtics (0",
            longest);
    for (double tick = 1; tick <= longest; tick *= 10)
        fprintf(out, ", %.0f", tick);
    fputs(")\n", out);
}

static void put_curve_axes(FILE *out, const char *name, struct range range, enum plot_axis axis) {
    static const char *const labels[] = {[PLOT_TIME] = "seconds since the command started",
                                         [PLOT_ITERATION] = "iteration",
                                         [PLOT_UPDATES] = "updates of the model"};
    /* a share has no values above 1 */
    const char *limit = strcmp(name, "accuracy") == 0 && range.high <= 1 ? "<1" : "";
    fprintf(out,
            "set xlabel '%s' offset 0,0.5\nset xrange [0:*]\nset yrange [%s:*%s]\n"
            "set offsets 0, graph 0.02, graph 0.08, %s\nset key outside right top\n",
            labels[axis], from_zero(range) ? "0" : "*", limit,
            from_zero(range) ? "0" : "graph 0.05");
    if (range.high >= 1e5)
        fputs("set format y '%.1s %c'\n", out);
    fputs("set ylabel ", out);
    script_put_string(out, name);
}

/* A line, or points with their running mean. */
static void put_curve_style(FILE *out, size_t line, const struct drawn *d) {
    const char *colour = script_colour(line), *comma = line ? ", " : "";
    if (d->mean)
        fprintf(out,
                "%s$c%zu using 1:2 with lines lw 0.6 lc rgb '#b0%s' notitle, "
                "$m%zu using 1:2 with lines lw 1.6 lc rgb '%s' title ",
                comma, line, colour + 1, line, colour);
    else
        fprintf(out, "%s$c%zu using 1:2 with %s lw 1.6 lc rgb '%s' title ", comma, line,
                d->dots ? "linespoints pt 7 ps 0.5" : "lines", colour);
    script_put_string(out, d->title);
    fputs(d->mean ? ".', running mean'" : "", out);
}

static struct plot *draw_curves(struct drawn *drawn, size_t n, const char *name,
                                enum plot_axis axis) {
    struct script script;
    size_t points = 0;
    if (script_open(&script, 320) < 0)
        return NULL;
    for (size_t i = 0; i < n; i++)
        points += put_curve(script.file, i, &drawn[i], axis);
    put_curve_axes(script.file, name, range_of(drawn, n), axis);
    if (axis != PLOT_TIME) {
        fputc('\n', script.file);
        put_counts_axis(script.file, drawn, n);
    }
    fputs("\nplot ", script.file);
    for (size_t i = 0; i < n; i++)
        put_curve_style(script.file, i, &drawn[i]);
    fputc('\n', script.file);
    struct plot *plot = script_close(&script);
    if (!points) {
        plot_free(plot);
        return script_no_data();
    }
    static const char *const against[] = {[PLOT_TIME] = "time",
                                          [PLOT_ITERATION] = "iteration",
                                          [PLOT_UPDATES] = "updates of the model"};
    return plot_titled(plot, "%s against %s", name, against[axis]);
}

struct plot *plot_curve(const struct report *const *reports, const char *const *titles, size_t n,
                        const char *name, enum plot_axis axis) {
    struct drawn *drawn = calloc(n + 1, sizeof *drawn);
    for (size_t i = 0; drawn && i < n; i++)
        drawn[i] = (struct drawn){reports[i],
                                  find_curve(reports[i], name),
                                  titles                 ? titles[i]
                                  : reports[i]->run_name ? reports[i]->run_name
                                                         : "?",
                                  false,
                                  false,
                                  NAN};
    struct plot *plot = drawn ? draw_curves(drawn, n, name, axis) : NULL;
    free(drawn);
    return plot;
}

size_t plot_marked_count(const struct report *report, const char *name) {
    size_t n = 0;
    for (size_t i = 0; i < report->n_curves; i++)
        n += strcmp(report->curves[i].name, name) == 0 && report->curves[i].n > 1;
    return n;
}

struct plot *plot_marked(const struct report *report, const char *name, enum plot_axis axis) {
    struct drawn drawn[PLOT_MARKED_MAX];
    char titles[PLOT_MARKED_MAX][32];
    size_t n = 0, all = plot_marked_count(report, name);
    for (size_t i = 0; i < report->n_curves && n < PLOT_MARKED_MAX; i++) {
        const struct report_curve *curve = &report->curves[i];
        if (strcmp(curve->name, name) != 0 || curve->n < 2)
            continue;
        snprintf(titles[n], sizeof titles[n], curve->rank < 0 ? "the program" : "rank %d",
                 curve->rank);
        drawn[n] = (struct drawn){report, curve, titles[n], false, false, NAN};
        n++;
    }
    struct plot *plot = n ? draw_curves(drawn, n, name, axis) : script_no_data();
    return plot && n < all ? plot_titled(plot, "%s, %zu of %zu ranks", plot_title(plot), n, all)
                           : plot;
}
