/* SPDX-License-Identifier: MIT */
/*
 * The verdict's limit at the top, then a row for each resource, with a cell for each span of time;
 * neighbours of one level are one piece of a path. A limit that comes in bursts fills no cell: its
 * own row shows the part of each span that it took, whatever resource it was.
 */
#include "reports/plot/map.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/plot/drawing.h"
#include "reports/plot/gnuplot.h"
#include "reports/plot/map_private.h"

#define RIGHT 970
#define ROW 13
#define GAP 7
#define FOOT 26
#define LIMIT_ROW 30

/* ---- drawn ---- */

static double x_of_time(double at, double end) {
    return MAP_LEFT + (RIGHT - MAP_LEFT) * at / end;
}

/* Draws the cells of a row that have that level. */
static void put_level(const struct map *m, const double *values, int level, const char *class) {
    bool any = false;
    for (size_t i = 0, end; i < m->bins; i = end) {
        for (end = i + 1; end < m->bins && map_level(values[end]) == map_level(values[i]); end++)
            ;
        if (map_level(values[i]) != level)
            continue;
        if (!any)
            fprintf(m->out, "<path class=\"%s l%d\" d=\"", level == MAP_LEVELS ? "full" : class,
                    level);
        any = true;
        fprintf(m->out, "M%.1f %.0fH%.1fv%dH%.1fz", x_of_time((double)i, (double)m->bins), m->y,
                x_of_time((double)end, (double)m->bins), ROW - 2,
                x_of_time((double)i, (double)m->bins));
    }
    if (any)
        fputs("\"/>", m->out);
}

static void put_levels(const struct map *m, const double *values, const char *class) {
    for (int level = 1; level <= MAP_LEVELS; level++)
        put_level(m, values, level, class);
}

/* Writes percents as two hexadecimal digits each, "--" where nothing is known. */
static void put_values(FILE *out, const double *values, size_t n) {
    fputs(" data-v=\"", out);
    for (size_t i = 0; i < n; i++)
        if (isnan(values[i]))
            fputs("--", out);
        else
            fprintf(out, "%02x", (unsigned)lround(100 * fmin(fmax(values[i], 0), 1)) & 0xff);
    fputs("\"", out);
}

/* The background of a row tells the page's script what the row has: its host (-1: none), its
 * resource, the plot that shows more of it (NULL: none), and n values.
 */
struct ground {
    int host, height;
    const char *what, *plot;
    const double *values;
    size_t n;
};

static void put_ground(const struct map *m, const struct ground *of) {
    fprintf(m->out, "<rect class=\"ground\" data-h=\"%d\" data-w=\"%s\"", of->host, of->what);
    if (of->plot)
        fprintf(m->out, " data-p=\"%s\"", of->plot);
    put_values(m->out, of->values, of->n);
    fprintf(m->out, " x=\"%d\" y=\"%.0f\" width=\"%d\" height=\"%d\"/>", MAP_LEFT, m->y,
            RIGHT - MAP_LEFT, of->height);
}

static bool is_limit(const struct map *m, size_t host, size_t resource) {
    return m->report->verdict.host == (int)host && map_limit(m) == resource;
}

static void put_host(struct map *m, size_t host) {
    drawing_put_text(m->out, 4, m->y + ROW - 3, "start", "name", m->report->hosts[host].name, 14);
    for (size_t r = 0; r < map_rows(m->report, host); r++, m->y += ROW) {
        drawing_put_text(m->out, MAP_LEFT - 5, m->y + ROW - 4, "end",
                         is_limit(m, host, r) ? "small is-limit" : "small",
                         map_words(m->report, host, r), 20);
        put_ground(m, &(struct ground){(int)host, ROW - 2, map_name(m->report, host, r),
                                       map_resource(r)->plot, map_row(m, host, r), m->bins});
        put_levels(m, map_row(m, host, r), map_resource(r)->class);
    }
    m->y += GAP;
}

/* The fullest core is left out, since one thread fills it. NAN: nothing is known. */
static double fullest_at(const struct map *m, size_t host, size_t bin) {
    double most = NAN;
    for (size_t r = 0; r < map_rows(m->report, host); r++)
        most = r == MAP_CORE ? most : fmax(most, map_row(m, host, r)[bin]);
    return most;
}

/* One row for a host among many: draws the fullest resource. */
static void put_fullest(struct map *m, size_t host) {
    double values[MAP_BINS_MAX], fullest[MAP_BINS_MAX];
    drawing_put_text(m->out, MAP_LEFT - 5, m->y + ROW - 4, "end", "small",
                     m->report->hosts[host].name, 22);
    for (size_t i = 0; i < m->bins; i++)
        fullest[i] = fullest_at(m, host, i);
    put_ground(m,
               &(struct ground){(int)host, ROW - 2, "fullest resource", "cpu", fullest, m->bins});
    for (size_t r = 0; r < map_rows(m->report, host); r++) {
        for (size_t i = 0; i < m->bins; i++) {
            bool is_fullest = r != MAP_CORE && map_row(m, host, r)[i] == fullest[i];
            values[i] = is_fullest ? fullest[i] : NAN;
        }
        put_levels(m, values, map_resource(r)->class);
    }
    m->y += ROW;
}

static void put_machine(struct map *m, size_t first) {
    drawing_put_text(m->out, 4, m->y + ROW - 3, "start", "name", "shared machine", 20);
    drawing_put_text(m->out, MAP_LEFT - 5, m->y + ROW - 4, "end", "small", "CPU", 20);
    const double *values = m->machines + first * m->bins;
    put_ground(m, &(struct ground){-1, ROW - 2, "CPU of the machine that hosts share", "cpu",
                                   values, m->bins});
    put_levels(m, values, "cpu");
    m->y += ROW + GAP;
}

/* Draws bars as tall as the part of each span that the limit took. */
static void put_limit(struct map *m) {
    const struct limit_levels *levels = m->levels;
    const int height = LIMIT_ROW - 6;
    drawing_put_text(m->out, 4, m->y + height - 2, "start", "name", "limit", 14);
    drawing_put_text(m->out, MAP_LEFT - 5, m->y + 9, "end", "small", "100 %", 20);
    drawing_put_text(m->out, MAP_LEFT - 5, m->y + height - 1, "end", "small", "0 %", 20);
    put_ground(m, &(struct ground){-1, height, "time that the limit took", NULL, levels->share,
                                   LIMIT_LEVELS});
    fputs("<path class=\"full\" d=\"", m->out);
    for (size_t i = 0; i < LIMIT_LEVELS; i++) {
        double tall = isnan(levels->share[i]) ? 0 : height * levels->share[i];
        if (tall >= .05)
            fprintf(m->out, "M%.1f %.1fH%.1fv%.1fH%.1fz", x_of_time((double)i, LIMIT_LEVELS),
                    m->y + height - tall, x_of_time((double)i + 1, LIMIT_LEVELS), tall,
                    x_of_time((double)i, LIMIT_LEVELS));
    }
    fputs("\"/>", m->out);
    m->y += LIMIT_ROW;
}

static void put_map_axis(const struct map *m, int height) {
    double end = report_end_s(m->report), step = drawing_step(end, 10);
    for (double t = 0; t <= end * 1.0001; t += step) {
        char text[32];
        snprintf(text, sizeof text, "%.4g%s", t, t == 0 ? " s" : "");
        fprintf(m->out, "<path class=\"tick\" d=\"M%.1f 0V%d\"/>", x_of_time(t, end),
                height - FOOT + 4);
        drawing_put_text(m->out, x_of_time(t, end), height - 8, "middle", "small", text, 20);
    }
}

static int map_height(const struct map *m) {
    size_t n = m->report->n_hosts;
    int height = FOOT;
    for (size_t h = 0; h < n; h++) {
        height += n > MAP_HOSTS_MAX ? ROW : (int)map_rows(m->report, h) * ROW + GAP;
        height += map_begins_machine(m->report, h) ? ROW + GAP : 0;
    }
    return height + (m->levels->known ? LIMIT_ROW : 0);
}

static void draw_map(struct map *m) {
    size_t n = m->report->n_hosts;
    int height = map_height(m);
    fprintf(m->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 980 %d\" class=\"map\" "
            "data-map=\"%d %d\">",
            height, MAP_LEFT, RIGHT);
    put_map_axis(m, height);
    if (m->levels->known)
        put_limit(m);
    for (size_t h = 0; h < n; h++)
        if (map_begins_machine(m->report, h))
            put_machine(m, h);
    for (size_t h = 0; h < n; h++)
        if (n > MAP_HOSTS_MAX)
            put_fullest(m, h);
        else
            put_host(m, h);
    fputs("</svg>\n", m->out);
}

/* ---- all of it ---- */

static size_t map_bins(const struct report *report) {
    double samples = report->period_s > 0 ? floor(report_end_s(report) / report->period_s) : 1;
    return (size_t)fmax(1, fmin(samples, MAP_BINS_MAX));
}

static void fill(struct map *m) {
    for (size_t h = 0; h < m->report->n_hosts; h++) {
        for (size_t r = 0; r < map_rows(m->report, h); r++)
            map_fill(m->report, h, r, m->values + (h * m->rows + r) * m->bins, m->bins);
        if (map_begins_machine(m->report, h))
            map_fill_machine(m->report, h + 1, m->machines + h * m->bins, m->bins);
    }
}

int map_draw(const struct report *report, const struct limit_levels *levels,
             struct map_drawing *ret_drawing) {
    struct map m = {.report = report, .levels = levels, .bins = map_bins(report)};
    size_t size, n = report->n_hosts * m.bins;
    *ret_drawing = (struct map_drawing){0};
    if (!report->n_hosts || !report->series)
        return -ENODATA;
    for (size_t h = 0; h < report->n_hosts; h++)
        m.rows = map_rows(report, h) > m.rows ? map_rows(report, h) : m.rows;
    m.values = calloc(n * (m.rows + 1), sizeof *m.values);
    m.out = m.values ? open_memstream(&ret_drawing->svg, &size) : NULL;
    if (!m.out) {
        free(m.values);
        return -ENOMEM;
    }
    m.machines = m.values + n * m.rows;
    fill(&m);
    draw_map(&m);
    ret_drawing->finding = map_finding(&m);
    for (size_t h = 0; h < report->n_hosts; h++)
        for (size_t r = 0; r < MAP_RESOURCES; r++)
            ret_drawing->limited |= map_allowance(report, h, r) != NULL;
    free(m.values);
    return fclose(m.out) == 0 ? 0 : -ENOMEM;
}
