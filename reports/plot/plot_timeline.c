/* SPDX-License-Identifier: MIT */
/* T8: one iteration, a line for each rank, a bar for each run of an operator. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/model/layout.h"
#include "reports/plot/gnuplot.h"
#include "reports/plot/plot.h"

#define NAMES_MAX 24
#define RANKS_MAX 64
#define HELD 186 /* pixels: names of ranks and hosts */

struct picture {
    const struct report_timeline *timeline;
    const char *names[NAMES_MAX]; /* the one with most time first, so that short ones are drawn on
                                     top */
    double total_s[NAMES_MAX];
    size_t n_names, n_others; /* others: bars of operators beyond NAMES_MAX, which are not drawn */
    const struct report_bar *ranks[RANKS_MAX]; /* the first bar of each line */
    size_t n_ranks;
};

static void add_name(struct picture *p, const struct report_bar *bar) {
    size_t i = 0;
    while (i < p->n_names && strcmp(p->names[i], bar->name) != 0)
        i++;
    if (i == p->n_names && i == NAMES_MAX) {
        p->n_others++;
        return;
    }
    if (i == p->n_names)
        p->names[p->n_names++] = bar->name;
    p->total_s[i] += bar->end_s - bar->start_s;
    for (; i > 0 && p->total_s[i] > p->total_s[i - 1]; i--) {
        const char *name = p->names[i];
        double total = p->total_s[i];
        p->names[i] = p->names[i - 1];
        p->total_s[i] = p->total_s[i - 1];
        p->names[i - 1] = name;
        p->total_s[i - 1] = total;
    }
}

/* Bars are sorted by rank, then by time. */
static void add_rank(struct picture *p, const struct report_bar *bar) {
    const struct report_bar *last = p->n_ranks ? p->ranks[p->n_ranks - 1] : NULL;
    if ((!last || last->rank != bar->rank || last->host != bar->host) && p->n_ranks < RANKS_MAX)
        p->ranks[p->n_ranks++] = bar;
}

static long line_of(const struct picture *p, const struct report_bar *bar) {
    for (size_t i = 0; i < p->n_ranks; i++)
        if (p->ranks[i]->rank == bar->rank && p->ranks[i]->host == bar->host)
            return (long)i;
    return -1;
}

/* A bar: middle x, y, its left, right, lower and upper end. */
static void put_bars(FILE *out, const struct picture *p, size_t name) {
    size_t n = 0;
    fprintf(out, "$o%zu << EOD\n", name);
    for (size_t i = 0; i < p->timeline->n_bars; i++) {
        const struct report_bar *bar = &p->timeline->bars[i];
        long line = line_of(p, bar);
        if (line < 0 || strcmp(bar->name, p->names[name]) != 0)
            continue;
        fprintf(out, "%.9g %ld %.9g %.9g %.2f %.2f\n", 500 * (bar->start_s + bar->end_s), line,
                1e3 * bar->start_s, 1e3 * bar->end_s, (double)line - 0.38, (double)line + 0.38);
        n++;
    }
    fputs(n ? "EOD\n" : "0 NaN 0 0 0 0\nEOD\n", out);
}

static void put_timeline_axes(FILE *out, const struct report *report, const struct picture *p) {
    fprintf(
        out,
        "set xrange [0:%.9g]\nset yrange [%.1f:-0.6] \nset xlabel 'ms since the iteration "
        "began' offset 0,0.5\nset key outside right top\nset lmargin at screen 0.19\nset ytics (",
        1e3 * p->timeline->duration_s, (double)p->n_ranks - 0.4);
    for (size_t i = 0; i < p->n_ranks; i++) {
        char label[160];
        const char *host = layout_host(report, p->ranks[i]->host);
        if (p->ranks[i]->rank >= 0)
            snprintf(label, sizeof label, "rank %d, %s", p->ranks[i]->rank, host);
        else
            snprintf(label, sizeof label, "%s", host);
        fputs(i ? ", " : "", out);
        script_put_short(out, label, 28);
        fprintf(out, " %zu", i);
    }
    fputs(")\n", out);
}

struct plot *plot_timeline(const struct report *report) {
    struct picture p = {.timeline = &report->timeline};
    struct script script;
    if (!report->timeline.n_bars || !(report->timeline.duration_s > 0))
        return script_no_data();
    for (size_t i = 0; i < report->timeline.n_bars; i++) {
        add_name(&p, &report->timeline.bars[i]);
        add_rank(&p, &report->timeline.bars[i]);
    }
    int height = 110 + 30 * (int)p.n_ranks;
    int legend = 50 + 20 * (int)p.n_names;
    if (script_open(&script, height > legend ? height : legend) < 0)
        return NULL;
    script.held = HELD;
    put_timeline_axes(script.file, report, &p);
    for (size_t i = 0; i < p.n_names; i++)
        put_bars(script.file, &p, i);
    fputs("plot ", script.file);
    for (size_t i = 0; i < p.n_names; i++) {
        fprintf(script.file,
                "%s$o%zu using 1:2:3:4:5:6 with boxxyerror lc rgb '%s' fs solid 0.85 noborder "
                "title ",
                i ? ", " : "", i, script_colour(i));
        script_put_string(script.file, p.names[i]);
    }
    fputc('\n', script.file);
    char title[160];
    layout_timeline_title(report, title, sizeof title);
    return plot_titled(script_close(&script), "%s", title);
}
