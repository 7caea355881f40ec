/* SPDX-License-Identifier: MIT */
/*
 * A row a resource, a cell a span of time; neighbours of one level are one piece of a path. The
 * level is the CPU's busy share, the share of a link's or disk's ceiling, or the share of memory in
 * use. The highest rate that was seen is no ceiling, so it never makes a link full.
 */
#include "reports/plot/map.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/plot/drawing.h"
#include "reports/plot/gnuplot.h"
#include "reports/plot/heat.h"
#include "reports/words/text_list.h"

#define BINS_MAX 160
#define LEFT 150 /* of 980: names of hosts and resources */
#define RIGHT 970
#define ROW 13
#define GAP 7
#define FOOT 26
#define LEVELS 4 /* nothing, some, half, most; then full */

enum { CPU, CORE, NETWORK, DISK, MEMORY, RESOURCES };

static const struct {
    const char *class, *words, *name;
} resources[RESOURCES] = {[CPU] = {"cpu", "CPU", "CPU"},
                          [CORE] = {"cpu", "core", "fullest core"},
                          [NETWORK] = {"net", "network", "network"},
                          [DISK] = {"disk", "disk", "disk"},
                          [MEMORY] = {"mem", "memory", "memory"}};

/* ---- how full ---- */

static void means_of(const struct report *report, size_t host, enum metric metric, double *values,
                     size_t n) {
    for (size_t i = 0; i < n; i++)
        values[i] = 0;
    series_add_bin_means(&report->series[host].metrics[metric], report_end_s(report), values, n);
}

/* Raises values to a share of a ceiling. */
static void raise_to_share(const struct report *report, size_t host, enum metric metric,
                           double *values, size_t n) {
    const struct report_ceiling *ceiling = &report->series[host].ceilings[metric];
    double rates[BINS_MAX], most = ceiling->known == ARITHMETIC_SEEN ? MAP_FULL - 1e-6 : INFINITY;
    if (!(ceiling->value > 0))
        return;
    means_of(report, host, metric, rates, n);
    for (size_t i = 0; i < n; i++)
        if (!isnan(rates[i]))
            values[i] = fmax(values[i], fmin(rates[i] / ceiling->value, most));
}

static void fill_memory(const struct report *report, size_t host, double *values, size_t n) {
    double left[BINS_MAX];
    means_of(report, host, METRIC_MEM_USED, values, n);
    means_of(report, host, METRIC_MEM_FREE, left, n);
    for (size_t i = 0; i < n; i++)
        values[i] /= values[i] + left[i];
}

static void fill_percent(const struct report *report, size_t host, enum metric metric,
                         double *values, size_t n) {
    means_of(report, host, metric, values, n);
    for (size_t i = 0; i < n; i++)
        values[i] /= 100;
}

void map_fill(const struct report *report, size_t host, size_t resource, double *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        values[i] = NAN;
    if (resource == CPU) {
        fill_percent(report, host, METRIC_CPU_IDLE, values, n);
        for (size_t i = 0; i < n; i++)
            values[i] = 1 - values[i];
    } else if (resource == CORE) {
        fill_percent(report, host, METRIC_CPU_CORE_MAX, values, n);
    } else if (resource == NETWORK) {
        raise_to_share(report, host, METRIC_NET_SEND, values, n);
        raise_to_share(report, host, METRIC_NET_RECV, values, n);
    } else if (resource == DISK) {
        fill_percent(report, host, METRIC_DISK_BUSY, values, n);
        raise_to_share(report, host, METRIC_DISK_READ, values, n);
        raise_to_share(report, host, METRIC_DISK_WRITE, values, n);
    } else {
        fill_memory(report, host, values, n);
    }
}

/* ---- drawn ---- */

struct map {
    const struct report *report;
    FILE *out;
    size_t bins;
    double *values; /* [(host * RESOURCES + resource) * bins + bin] */
    int height;
};

static const double *row_of(const struct map *m, size_t host, size_t resource) {
    return m->values + (host * RESOURCES + resource) * m->bins;
}

/* 0: not worth a mark, or not known; LEVELS: full. */
static int level_of(double value) {
    return isnan(value)        ? 0
           : value >= MAP_FULL ? LEVELS
           : value >= .6       ? 3
           : value >= .3       ? 2
           : value >= .1       ? 1
                               : 0;
}

static double x_of(const struct map *m, size_t bin) {
    return LEFT + (double)(RIGHT - LEFT) * (double)bin / (double)m->bins;
}

/* The cells of a row that are at a level. */
static void put_level(const struct map *m, const double *values, int level, double y,
                      const char *class) {
    bool any = false;
    for (size_t i = 0, end; i < m->bins; i = end) {
        for (end = i + 1; end < m->bins && level_of(values[end]) == level_of(values[i]); end++)
            ;
        if (level_of(values[i]) != level)
            continue;
        if (!any)
            fprintf(m->out, "<path class=\"%s l%d\" d=\"", level == LEVELS ? "full" : class, level);
        any = true;
        fprintf(m->out, "M%.1f %.0fH%.1fv%dH%.1fz", x_of(m, i), y, x_of(m, end), ROW - 2,
                x_of(m, i));
    }
    if (any)
        fputs("\"/>", m->out);
}

static void put_row(const struct map *m, const double *values, const char *class, double y) {
    fprintf(m->out, "<rect class=\"ground\" x=\"%d\" y=\"%.0f\" width=\"%d\" height=\"%d\"/>", LEFT,
            y, RIGHT - LEFT, ROW - 2);
    for (int level = 1; level <= LEVELS; level++)
        put_level(m, values, level, y, class);
}

static void put_host(const struct map *m, size_t host, double y) {
    drawing_put_text(m->out, 4, y + ROW - 3, "start", "name", m->report->hosts[host].name, 14);
    for (size_t r = 0; r < RESOURCES; r++) {
        drawing_put_text(m->out, LEFT - 5, y + ROW * (double)(r + 1) - 4, "end", "small",
                         resources[r].words, 20);
        put_row(m, row_of(m, host, r), resources[r].class, y + ROW * (double)r);
    }
}

/* One row of many hosts: each resource draws where it is the fullest. The core, which one thread
 * fills, is left out. */
static void put_fullest(const struct map *m, size_t host, double y) {
    double values[BINS_MAX];
    drawing_put_text(m->out, LEFT - 5, y + ROW - 4, "end", "small", m->report->hosts[host].name,
                     22);
    for (size_t r = 0; r < RESOURCES; r++) {
        for (size_t i = 0; i < m->bins; i++) {
            double most = -1;
            for (size_t k = 0; k < RESOURCES; k++)
                most = k == CORE ? most : fmax(most, row_of(m, host, k)[i]);
            values[i] = r != CORE && row_of(m, host, r)[i] == most ? most : NAN;
        }
        if (r == 0)
            put_row(m, values, resources[r].class, y);
        else
            for (int level = 1; level <= LEVELS; level++)
                put_level(m, values, level, y, resources[r].class);
    }
}

static void put_axis(const struct map *m) {
    double end = report_end_s(m->report), step = drawing_step(end, 10);
    for (double t = 0; t <= end * 1.0001; t += step) {
        char text[32];
        snprintf(text, sizeof text, "%.4g%s", t, t == 0 ? " s" : "");
        double x = LEFT + (RIGHT - LEFT) * t / end;
        fprintf(m->out, "<path class=\"tick\" d=\"M%.1f 0V%d\"/>", x, m->height - FOOT + 4);
        drawing_put_text(m->out, x, m->height - 8, "middle", "small", text, 20);
    }
}

static void draw(struct map *m) {
    size_t n = m->report->n_hosts;
    bool many = n > MAP_HOSTS_MAX;
    int step = many ? ROW : RESOURCES * ROW + GAP;
    m->height = (int)n * step + FOOT;
    fprintf(m->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 980 %d\" class=\"map\" "
            "data-map=\"%d %d %d %d %d\">",
            m->height, LEFT, RIGHT, step, many ? step : ROW, many ? 1 : RESOURCES);
    put_axis(m);
    for (size_t h = 0; h < n; h++)
        if (many)
            put_fullest(m, h, (double)(h * (size_t)step));
        else
            put_host(m, h, (double)(h * (size_t)step));
    fputs("</svg>\n", m->out);
}

/* ---- what it shows ---- */

struct fullest {
    size_t host, resource;
    double full, mean; /* shares of the time that is known */
};

static struct fullest look_at(const struct map *m, size_t host, size_t resource) {
    const double *values = row_of(m, host, resource);
    struct fullest f = {host, resource, 0, 0};
    size_t known = 0;
    for (size_t i = 0; i < m->bins; i++) {
        if (isnan(values[i]))
            continue;
        known++;
        f.full += level_of(values[i]) == LEVELS;
        f.mean += values[i];
    }
    f.full /= known ? (double)known : 1;
    f.mean /= known ? (double)known : 1;
    return f;
}

/* The one that was full longest, else the fullest; a core only where nothing else is to tell. */
static struct fullest find_fullest(const struct map *m, const struct fullest *but) {
    struct fullest best = {0};
    for (size_t h = 0; h < m->report->n_hosts; h++)
        for (size_t r = 0; r < RESOURCES; r++) {
            struct fullest f = look_at(m, h, r);
            bool other = !but || f.host != but->host || f.resource != but->resource;
            if (r != CORE && other &&
                (f.full > best.full || (f.full == best.full && f.mean > best.mean)))
                best = f;
        }
    return best;
}

static bool link_is_limit(const struct report *report) {
    const struct report_verdict *v = &report->verdict;
    return v->state == VERDICT_SATURATED && v->resource && strncmp(v->resource, "net", 3) == 0;
}

static char *finding_of(const struct map *m) {
    struct fullest first = find_fullest(m, NULL), second = find_fullest(m, &first);
    const char *name = m->report->hosts[first.host].name;
    if (first.full < .01)
        return text_format("Nothing was full for long. The fullest was %s's %s, used %.0f %% on "
                           "average.%s",
                           name, resources[first.resource].name, 100 * first.mean,
                           link_is_limit(m->report)
                               ? " The network is full in bursts that are shorter than a sample."
                               : "");
    if (second.full < .01)
        return text_format("Only %s's %s was full: %.0f %% of the time.", name,
                           resources[first.resource].name, 100 * first.full);
    return text_format("%s's %s was full %.0f %% of the time, then %s's %s: %.0f %%.", name,
                       resources[first.resource].name, 100 * first.full,
                       m->report->hosts[second.host].name, resources[second.resource].name,
                       100 * second.full);
}

static size_t bins_of(const struct report *report) {
    double samples = report->period_s > 0 ? floor(report_end_s(report) / report->period_s) : 1;
    return (size_t)fmax(1, fmin(samples, BINS_MAX));
}

int map_draw(const struct report *report, struct map_drawing *ret_drawing) {
    struct map m = {.report = report, .bins = bins_of(report)};
    size_t size;
    *ret_drawing = (struct map_drawing){0};
    if (!report->n_hosts || !report->series)
        return -ENODATA;
    m.values = calloc(report->n_hosts * RESOURCES * m.bins, sizeof *m.values);
    m.out = m.values ? open_memstream(&ret_drawing->svg, &size) : NULL;
    if (!m.out) {
        free(m.values);
        return -ENOMEM;
    }
    for (size_t h = 0; h < report->n_hosts; h++)
        for (size_t r = 0; r < RESOURCES; r++)
            map_fill(report, h, r, m.values + (h * RESOURCES + r) * m.bins, m.bins);
    draw(&m);
    ret_drawing->finding = finding_of(&m);
    free(m.values);
    return fclose(m.out) == 0 ? 0 : -ENOMEM;
}
