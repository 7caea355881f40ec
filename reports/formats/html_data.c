/* SPDX-License-Identifier: MIT */
/*
 * Data for the page's script: the run's series as one JSON object, which no browser executes. All
 * lines share one time axis of pairs of points; each pair has the lowest and the highest value of
 * its time, in the order in which they came. Values are integers times the line's scale, at most
 * LEVELS, in one string for each line, which the page decodes when it draws that line: a page of
 * 100 hosts has 600,000 values and shows few of them. There are at most POINTS_MAX, whatever the
 * number of hosts.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/html_private.h"
#include "reports/formats/json_value.h"
#include "reports/plot/gnuplot.h"
#include "reports/plot/resource.h"
#include "reports/plot/thin.h"

#define POINTS_MAX 600000
#define PAIRS_MAX 1000 /* of a line: more than a screen has pixels */
#define PAIRS_MIN 60
#define LEVELS 1000 /* of a line: steps between 0 and its highest value */
#define TICKS_MAX 400
#define ROUTES_MAX 12
#define RANKS_MAX 24

struct axis {
    double end_s;
    size_t pairs;
};

static size_t max_samples(const struct report *report) {
    size_t n = 0;
    for (size_t h = 0; h < report->n_hosts; h++)
        if (report->series[h].metrics[METRIC_CPU_IDLE].n > n)
            n = report->series[h].metrics[METRIC_CPU_IDLE].n;
    return n;
}

/* Most runs have no GPU. */
static bool has_data(const struct report *report, const struct resource_plot *plot) {
    if (!metric_is_of_gpu(plot->lines[0].metric))
        return true;
    for (size_t h = 0; h < report->n_hosts; h++)
        for (size_t i = 0; i < plot->n; i++)
            if (report->series[h].metrics[plot->lines[i].metric].n)
                return true;
    return false;
}

static struct axis axis_of(const struct report *report) {
    size_t lines = 1, samples = max_samples(report);
    for (size_t i = 0; i < PLOT_RESOURCE_COUNT_; i++)
        lines += has_data(report, &resource_plots[i]) ? resource_plots[i].n * report->n_hosts : 0;
    double pairs = fmin((double)POINTS_MAX / 2 / (double)lines, PAIRS_MAX);
    return (struct axis){report_end_s(report),
                         (size_t)fmax(1, fmin(fmax(pairs, PAIRS_MIN), (double)samples / 2))};
}

static json_t *number(double value, double digits) {
    if (!isfinite(value))
        return json_null();
    double power = value == 0 ? 1 : pow(10, digits - ceil(log10(fabs(value))));
    return json_real(round(value * power) / power);
}

/* ---- lines ---- */

/* Both points of each pair; NAN where there is none. The caller frees it. */
static double *points_of(const struct report_series *series, const struct axis *axis) {
    struct thin_point *thin = calloc(series->n + 1, sizeof *thin);
    double *points = malloc((2 * axis->pairs + 1) * sizeof *points);
    size_t n = thin && points ? series_thin(series, axis->end_s, axis->pairs, thin) : 0;
    for (size_t i = 0; points && i < 2 * axis->pairs; i++)
        points[i] = NAN;
    for (size_t i = 0; i < n; i++) {
        double *pair = points + 2 * thin[i].bin;
        if (isnan(thin[i].value))
            continue;
        if (isnan(pair[0]))
            pair[0] = thin[i].value;
        pair[1] = thin[i].value;
    }
    free(thin);
    return points;
}

static double highest(const double *points, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(points[i]))
            most = fmax(most, points[i]);
    return most;
}

/* The points as integers up to LEVELS: two digits of base 32 each, "--" where there is none. */
static json_t *values_of(const double *points, size_t n, double scale) {
    static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
    char *text = malloc(2 * n + 1);
    if (!text)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        bool known = isfinite(points[i]);
        long steps = known ? lround(fmax(0, points[i]) / scale) : 0;
        text[2 * i] = known ? digits[steps / 32] : '-';
        text[2 * i + 1] = known ? digits[steps % 32] : '-';
    }
    json_t *values = json_stringn(text, 2 * n);
    free(text);
    return values;
}

static json_t *line_of(const struct report_series *series, const struct axis *axis,
                       const struct report_ceiling *ceiling) {
    json_t *line = json_object();
    double *points = points_of(series, axis);
    size_t n = points ? 2 * axis->pairs : 0;
    double most = highest(points, n), scale = most / LEVELS;
    json_object_set_new(line, "s", number(scale, 6));
    json_object_set_new(line, "v", values_of(points, n, scale > 0 ? scale : 1));
    free(points);
    if (ceiling && ceiling->value > 0) {
        json_object_set_new(line, "c", number(ceiling->value, 4));
        json_object_set_new(line, "k", json_string(report_arithmetic_rate(ceiling->known)));
    }
    return line;
}

static json_t *label_of(const char *label, const char *colour) {
    return json_pack("[o,s]", json_text(label), colour);
}

/* host -1: a panel without a host. */
static json_t *panel_of(int host, json_t *lines) {
    return json_pack("{s:i,s:o}", "host", host, "lines", lines);
}

/* part: it shows less than the picture, which stays. */
static json_t *plot_of(const char *name, const char *unit, bool stacked, double top, bool sparse,
                       bool part, json_t *labels, json_t *panels) {
    return json_pack("{s:s,s:s,s:b,s:f,s:b,s:b,s:o,s:o}", "name", name, "unit", unit, "stacked",
                     stacked, "top", top, "sparse", sparse, "part", part, "labels", labels,
                     "panels", panels);
}

static json_t *resource_of(const struct report *report, const struct resource_plot *plot,
                           const struct axis *axis) {
    json_t *labels = json_array(), *panels = json_array();
    for (size_t i = 0; i < plot->n; i++)
        json_array_append_new(labels, label_of(plot->lines[i].label, plot->lines[i].colour));
    for (size_t h = 0; h < report->n_hosts; h++) {
        json_t *lines = json_array();
        for (size_t i = 0; i < plot->n; i++) {
            enum metric metric = plot->lines[i].metric;
            json_array_append_new(lines, line_of(&report->series[h].metrics[metric], axis,
                                                 &report->series[h].ceilings[metric]));
        }
        json_array_append_new(panels, panel_of((int)h, lines));
    }
    return plot_of(plot->name, plot->unit, plot->stacked, plot->top, false,
                   report->n_hosts > PLOT_HOSTS_MAX, labels, panels);
}

/* ---- of the run as a whole: one panel ---- */

static json_t *pairs_of(const struct report *report, const struct axis *axis) {
    json_t *labels = json_array(), *lines = json_array(), *panels = json_array();
    for (size_t i = 0; i < report->n_routes && i < ROUTES_MAX; i++) {
        json_array_append_new(labels, label_of(report->routes[i].series.label, script_colour(i)));
        json_array_append_new(lines, line_of(&report->routes[i].series, axis, NULL));
    }
    json_array_append_new(panels, panel_of(-1, lines));
    return plot_of("pairs", "MB/s", false, 0, false, report->n_routes > ROUTES_MAX, labels, panels);
}

static json_t *iterations_of(const struct report *report, const struct axis *axis) {
    json_t *labels = json_array(), *lines = json_array(), *panels = json_array();
    for (size_t i = 0; i < report->n_ranks && i < RANKS_MAX; i++) {
        const struct report_rank *r = &report->ranks[i];
        struct report_series series = {NULL, r->n, r->end_s, r->duration_s};
        char label[48];
        snprintf(label, sizeof label, r->rank < 0 ? "the program" : "rank %d", r->rank);
        json_array_append_new(labels, label_of(label, script_colour(i)));
        json_array_append_new(lines, line_of(&series, axis, NULL));
    }
    json_array_append_new(panels, panel_of(-1, lines));
    return plot_of("iterations", "s", false, 0, true, report->n_ranks > RANKS_MAX, labels, panels);
}

/* ---- what is marked in all plots ---- */

static json_t *phases_of(const struct report *report) {
    json_t *phases = json_array();
    for (size_t i = 0; i < report->n_phases && i < TICKS_MAX; i++)
        json_array_append_new(phases, json_pack("[o,o,o]", number(report->phases[i].start_s, 6),
                                                number(report->phases[i].end_s, 6),
                                                json_text(report->phases[i].name)));
    return phases;
}

/* Ends of the first rank's iterations, if they are far enough apart. */
static json_t *ticks_of(const struct report *report) {
    json_t *ticks = json_array();
    const struct report_rank *r = report->ranks;
    for (size_t i = 0; report->n_ranks && r->n <= TICKS_MAX && i < r->n; i++)
        json_array_append_new(ticks, number(r->end_s[i], 6));
    return ticks;
}

static json_t *document_of(const struct report *report) {
    struct axis axis = axis_of(report);
    json_t *root = json_object(), *hosts = json_array(), *plots = json_array();
    for (size_t h = 0; h < report->n_hosts; h++)
        json_array_append_new(hosts, json_text(report->hosts[h].name));
    for (size_t i = 0; i < PLOT_RESOURCE_COUNT_; i++)
        if (has_data(report, &resource_plots[i]))
            json_array_append_new(plots, resource_of(report, &resource_plots[i], &axis));
    if (report->n_routes)
        json_array_append_new(plots, pairs_of(report, &axis));
    if (report->n_ranks)
        json_array_append_new(plots, iterations_of(report, &axis));
    json_object_set_new(root, "end", number(axis.end_s, 6));
    json_object_set_new(root, "pairs", json_integer((json_int_t)axis.pairs));
    json_object_set_new(root, "host", json_integer(report->verdict.host));
    json_object_set_new(root, "hosts", hosts);
    json_object_set_new(root, "phases", phases_of(report));
    json_object_set_new(root, "ticks", ticks_of(report));
    json_object_set_new(root, "plots", plots);
    return root;
}

/* Nothing in it ends the element: a '<' occurs only within strings. */
static void put_json(FILE *out, const char *text) {
    for (; *text; text++)
        if (*text == '<')
            fputs("\\u003c", out);
        else
            fputc(*text, out);
}

void html_data(struct page *page, const struct report *report) {
    if (!report->series || !report->n_hosts)
        return;
    json_t *document = document_of(report);
    char *text = json_dumps(document, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(7));
    json_decref(document);
    if (!text) {
        page->error = page->error ? page->error : -ENOMEM;
        return;
    }
    html_close_part(page);
    fputs("<script type=\"application/json\" id=\"run-data\">", page->out);
    put_json(page->out, text);
    fputs("</script>\n", page->out);
    free(text);
}
