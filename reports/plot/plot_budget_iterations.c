/* SPDX-License-Identifier: MIT */
/*
 * How a rank's budget changes from iteration to iteration: a panel for each rank, with stacked bars
 * of the terms. Bars are means of neighbours if there are more iterations than room.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/facts/series/stats.h"
#include "reports/model/budget_words.h"
#include "reports/model/reported.h"
#include "reports/plot/colour.h"
#include "reports/plot/gnuplot.h"
#include "reports/plot/plot.h"
#include "reports/says/term_words.h"

#define BARS_MAX 160
#define PANEL_HEIGHT 118
#define HEAD 34 /* in pixels: the legend and the first panel's name */
#define FOOT 46
#define HELD 68 /* in pixels: left of the axis */

struct bar {
    double number, wall_s, term_s[BUDGET_TERMS];
};

struct panel {
    size_t whose;
    struct bar bars[BARS_MAX];
    size_t n;
    double width; /* of a bar, in iterations */
};

/* The report, and its iterations. */
struct source {
    const struct report *report;
    struct iteration_budgets its;
};

struct picture {
    struct panel panels[BUDGET_PANELS_MAX];
    size_t n;
    double top_s;             /* upper end of the axis */
    bool shown[BUDGET_TERMS]; /* large enough for the legend */
};

static bool is_shown(const struct report *report, const struct report_iteration_budget *i) {
    return i->phase == report->main_phase && i->budget.wall_s > 0;
}

/* Fills in the bars of one rank, from `first` on; a bar for each `each` iterations. */
static void fill_bars(struct panel *panel, const struct source *source, size_t first, size_t end,
                      size_t each) {
    size_t k = 0;
    for (size_t i = first; i < end; i++) {
        const struct report_iteration_budget *from = &source->its.items[i];
        if (!is_shown(source->report, from))
            continue;
        struct bar *bar = &panel->bars[k++ / each];
        double left = (double)((k - 1) % each), share = 1 / (left + 1);
        bar->number += ((double)from->number - bar->number) * share;
        bar->wall_s += (from->budget.wall_s - bar->wall_s) * share;
        for (int term = 0; term < BUDGET_TERMS; term++) {
            double value = from->budget.term_s[term];
            bar->term_s[term] += ((isnan(value) ? 0 : value) - bar->term_s[term]) * share;
        }
    }
    panel->n = (k + each - 1) / each;
    panel->width = (double)(each * source->its.every);
}

static void add_panel(struct picture *p, const struct source *source, size_t first, size_t end) {
    size_t n = 0;
    for (size_t i = first; i < end; i++)
        n += is_shown(source->report, &source->its.items[i]);
    if (n < 2)
        return;
    struct panel *panel = &p->panels[p->n++];
    panel->whose = source->its.items[first].whose;
    fill_bars(panel, source, first, end, (n + BARS_MAX - 1) / BARS_MAX);
    for (size_t b = 0; b < panel->n; b++)
        for (int term = 0; term < BUDGET_TERMS; term++)
            p->shown[term] |= panel->bars[b].term_s[term] >= 0.01 * panel->bars[b].wall_s;
}

/* One slow iteration must not flatten all others: its bar is cut off. */
static double axis_top(const struct picture *p) {
    double walls[BUDGET_PANELS_MAX * BARS_MAX], most = 0;
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        for (size_t b = 0; b < p->panels[i].n; b++) {
            walls[n++] = p->panels[i].bars[b].wall_s;
            most = fmax(most, p->panels[i].bars[b].wall_s);
        }
    return fmin(1.05 * most, 2 * stats_quantile(walls, n, 0.95));
}

/* 1, 2 or 5 times a power of ten: three or four of them up to the top. */
static double tic_of(double top) {
    double power = pow(10, floor(log10(top / 3))), step = top / 3 / power;
    return power * (step >= 5 ? 5 : step >= 2 ? 2 : 1);
}

static void fill_picture(struct picture *p, const struct source *source) {
    const struct iteration_budgets *its = &source->its;
    for (size_t i = 0, end; i < its->n; i = end) {
        end = i;
        while (end < its->n && its->items[end].whose == its->items[i].whose)
            end++;
        if (p->n < BUDGET_PANELS_MAX)
            add_panel(p, source, i, end);
    }
    p->top_s = p->n ? axis_top(p) : 0;
}

/* number, then the sum of terms 0..k for each k: the tallest is drawn first. */
static void put_panel_data(FILE *out, const struct panel *panel, size_t index) {
    fprintf(out, "$p%zu << EOD\n", index);
    for (size_t b = 0; b < panel->n; b++) {
        double sum = 0;
        fprintf(out, "%.9g", panel->bars[b].number);
        for (int term = 0; term < BUDGET_TERMS; term++)
            fprintf(out, " %.6g", 1e3 * (sum += panel->bars[b].term_s[term]));
        fputc('\n', out);
    }
    fputs("EOD\n", out);
}

static void put_panel(FILE *out, const struct picture *p, size_t index) {
    const char *separator = "plot ";
    fprintf(out, "set boxwidth %.9g\n", p->panels[index].width);
    for (int term = BUDGET_TERMS - 1; term >= 0; term--) {
        if (!p->shown[term])
            continue;
        const char *border = term == BUDGET_IDLE ? "border lc rgb '" COLOUR_PEER "'" : "noborder";
        fprintf(out, "%s$p%zu using 1:%d with boxes fs solid 1 %s lc rgb '%s' title ", separator,
                index, term + 2, border, budget_term_colour((enum budget_term)term));
        script_put_string(out, budget_term_words((enum budget_term)term));
        separator = ", ";
    }
    fputc('\n', out);
}

static void put_name(FILE *out, const struct report *report, size_t whose, double upper) {
    char who[128];
    budget_whose(report, &report->budget[whose], who, sizeof who);
    fputs("set label 900 ", out);
    script_put_string(out, who);
    fprintf(out, " at screen 0.075, screen px(%.1f) left tc rgb '#333333'\n", upper);
}

static void put_rank_panels(FILE *out, const struct report *report, const struct picture *p) {
    fprintf(out,
            "set lmargin at screen 0.07\nset rmargin at screen 0.985\n"
            "set yrange [0:%.6g]\nset ytics %.6g\nset ylabel 'ms' offset 1,0\nset format x ''\n"
            "set key at screen 0.985, screen px(2) right top horizontal samplen 1.2 invert\n",
            1e3 * p->top_s, tic_of(1e3 * p->top_s));
    for (size_t i = 0; i < p->n; i++) {
        double upper = HEAD + PANEL_HEIGHT * (double)i;
        fprintf(out, "set tmargin at screen px(%.1f)\nset bmargin at screen px(%.1f)\n",
                upper + 0.18 * PANEL_HEIGHT, upper + 0.97 * PANEL_HEIGHT);
        if (i + 1 == p->n)
            fputs("set format x '%g'\nset xlabel 'iteration' offset 0,0.5\n", out);
        put_name(out, report, p->panels[i].whose, upper + 0.09 * PANEL_HEIGHT);
        put_panel(out, p, i);
        fputs("unset key\n", out);
    }
}

static void set_range(FILE *out, const struct picture *p) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < p->n; i++) {
        const struct panel *panel = &p->panels[i];
        low = fmin(low, panel->bars[0].number - panel->width / 2);
        high = fmax(high, panel->bars[panel->n - 1].number + panel->width / 2);
    }
    fprintf(out, "set xrange [%.9g:%.9g]\n", low, high);
}

static struct plot *draw_bars(const struct report *report, const struct picture *p) {
    struct script script;
    int height = HEAD + FOOT + PANEL_HEIGHT * (int)p->n;
    if (script_open(&script, height) < 0)
        return NULL;
    script.held = HELD;
    for (size_t i = 0; i < p->n; i++)
        put_panel_data(script.file, &p->panels[i], i);
    set_range(script.file, p);
    put_rank_panels(script.file, report, p);
    return script_close(&script);
}

static size_t ranks_with_iterations(const struct iteration_budgets *its) {
    size_t n = 0;
    for (size_t i = 0; i < its->n; i++)
        n += i == 0 || its->items[i].whose != its->items[i - 1].whose;
    return n;
}

static struct plot *titled(struct plot *plot, const struct source *source) {
    const struct report *report = source->report;
    char which[40] = "every iteration";
    if (source->its.every > 1)
        snprintf(which, sizeof which, "one of %zu iterations", source->its.every);
    return plot_titled(
        plot,
        "Time of %s of %s%s, by %s%s; bars are means where there are many, the tallest may be cut "
        "off",
        which, budget_phase_before(report), budget_main_phase(report), budget_owner(report),
        ranks_with_iterations(&source->its) > BUDGET_PANELS_MAX ? " (the first ones)" : "");
}

struct plot *budget_iterations_drawn(const struct report *report, struct iteration_budgets its) {
    struct source source = {report, its};
    struct picture *p = calloc(1, sizeof *p);
    if (!p)
        return errno = ENOMEM, NULL;
    fill_picture(p, &source);
    struct plot *plot = p->n ? titled(draw_bars(report, p), &source) : script_no_data();
    int saved = errno;
    free(p);
    errno = saved;
    return plot;
}

struct plot *plot_budget_iterations(const struct report *report) {
    struct iteration_budgets its;
    int result = iteration_budgets_of(&report->run->model, &its);
    if (result < 0)
        return errno = -result, NULL;
    struct plot *plot = budget_iterations_drawn(report, its);
    int saved = errno;
    free(its.items);
    errno = saved;
    return plot;
}
