/* SPDX-License-Identifier: MIT */
/*
 * T8 of a sweep: the cost of its programs' operators, a column for each cell (those with the
 * largest share in any cell), and the iteration of median length of each cell as a timeline, drawn
 * with characters so that every format can show it.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model/layout.h"
#include "reports/sweep/sweep_private.h"

#define LABEL_SIZE 600
#define OPERATORS_SHOWN 8
#define BAR_COLUMNS 28
#define LINES_MAX 40

/* ---- operators, a column a cell ---- */

/* An operator, and its largest share of the iterations in any cell. */
struct ranked {
    const char *name;
    double share_pct;
    size_t place; /* where it came first: equal ones keep that order */
};

static void collect_operators(const struct report *report, struct ranked *all, size_t *n) {
    for (size_t i = 0; i < report->n_operators; i++) {
        const struct report_operator *use = &report->operators[i];
        size_t k = 0;
        while (k < *n && strcmp(all[k].name, use->name) != 0)
            k++;
        if (k == *n)
            all[(*n)++] = (struct ranked){use->name, 0, k};
        all[k].share_pct = fmax(all[k].share_pct, use->share_pct);
    }
}

static int by_share(const void *one, const void *other) {
    const struct ranked *a = one, *b = other;
    if (a->share_pct != b->share_pct)
        return a->share_pct < b->share_pct ? 1 : -1;
    return a->place < b->place ? -1 : 1;
}

/* The operators of all cells, the one with the largest share in any cell first; free() them. */
static int rank_operators(const struct sweep *sweep, struct ranked **ret_all, size_t *ret_n) {
    size_t most = 1, n = 0;
    for (size_t i = 0; i < sweep->n_cells; i++)
        most += sweep->cells[i].typical ? sweep->cells[i].typical->n_operators : 0;
    struct ranked *all = calloc(most, sizeof *all);
    if (!all)
        return -ENOMEM;
    for (size_t i = 0; i < sweep->n_cells; i++)
        if (sweep->cells[i].typical)
            collect_operators(sweep->cells[i].typical, all, &n);
    qsort(all, n, sizeof *all, by_share);
    *ret_all = all;
    *ret_n = n;
    return 0;
}

/* Mean time and output in the role that runs it most: "2.02 ms, 135.0 MB". */
static int put_operator(struct sweep_table *table, size_t row, size_t column,
                        const struct report *report, const char *name) {
    const struct report_operator *found = NULL;
    char ms[LAYOUT_NUMBER_SIZE], mb[LAYOUT_NUMBER_SIZE];
    for (size_t i = 0; i < report->n_operators; i++)
        if (strcmp(report->operators[i].name, name) == 0 &&
            (!found || report->operators[i].total_s > found->total_s))
            found = &report->operators[i];
    if (!found)
        return sweep_table_set(table, row, column, "-");
    layout_number(ms, 1e3 * found->mean_s);
    if (isnan(found->output_bytes))
        return sweep_table_set(table, row, column, "%s", ms);
    return sweep_table_set(table, row, column, "%s, %s MB", ms,
                           layout_number(mb, found->output_bytes / 1e6));
}

static int fill_operators(struct sweep_table *table, const struct sweep *sweep,
                          const struct ranked *all, size_t n) {
    size_t column = 1;
    int result = sweep_table_set(table, 0, 0, "operator");
    for (size_t r = 0; r < n && result == 0; r++)
        result = sweep_table_set(table, r + 1, 0, "%s", all[r].name);
    for (size_t i = 0; i < sweep->n_cells && result == 0; i++) {
        char label[LABEL_SIZE];
        if (!sweep->cells[i].typical)
            continue;
        sweep_values(sweep, &sweep->cells[i], label, sizeof label);
        result = sweep_table_set(table, 0, column, "%s", label);
        for (size_t r = 0; r < n && result == 0; r++)
            result = put_operator(table, r + 1, column, sweep->cells[i].typical, all[r].name);
        column++;
    }
    return result;
}

int sweep_tables_add_operators(struct sweep_tables *tables, const struct sweep *sweep) {
    struct ranked *all;
    size_t n;
    int result = rank_operators(sweep, &all, &n);
    if (result < 0)
        return result;
    size_t shown = n > OPERATORS_SHOWN ? OPERATORS_SHOWN : n;
    struct sweep_table *table =
        n ? sweep_table_new(tables, "operators", "", shown + 1 + (n > shown),
                            sweep_n_typical(sweep) + 1,
                            "Operators: mean time (ms) and size of the "
                            "output")
          : NULL;
    if (table)
        result = fill_operators(table, sweep, all, shown);
    else
        result = n ? -ENOMEM : 0;
    if (result == 0 && n > shown)
        result = sweep_table_set(table, shown + 1, 0, "... and %zu more", n - shown);
    free(all);
    return result;
}

/* ---- timelines, a table a cell ---- */

static bool same_line(const struct report_bar *a, const struct report_bar *b) {
    return a->rank == b->rank && a->host == b->host && strcmp(a->name, b->name) == 0;
}

/* Bars are sorted by rank, then by time: whether this is the first of that operator in that rank.
 */
static bool begins_line(const struct report_timeline *t, size_t at) {
    for (size_t i = at; i-- > 0 && t->bars[i].rank == t->bars[at].rank;)
        if (same_line(&t->bars[i], &t->bars[at]))
            return false;
    return true;
}

static size_t count_lines(const struct report_timeline *t) {
    size_t n = 0;
    for (size_t i = 0; i < t->n_bars; i++)
        n += begins_line(t, i);
    return n;
}

/* An operator of a rank: from its first begin to its last end, and every column that it touches. */
struct line {
    double start_s, end_s, busy_s;
    char drawn[BAR_COLUMNS + 1];
};

static void draw_bar(struct line *line, double from, double to) {
    size_t c = from > 0 ? (size_t)(from * BAR_COLUMNS + 1e-6) : 0,
           end = to > 0 ? (size_t)ceil(fmin(to, 1) * BAR_COLUMNS - 0.5) : 0;
    for (end = end > c ? end : c + 1; c < end && c < BAR_COLUMNS; c++)
        line->drawn[c] = '#';
}

static struct line measure_line(const struct report_timeline *t, size_t at) {
    struct line line = {.start_s = t->bars[at].start_s, .end_s = t->bars[at].end_s};
    memset(line.drawn, '.', BAR_COLUMNS);
    for (size_t i = at; i < t->n_bars && t->bars[i].rank == t->bars[at].rank; i++) {
        const struct report_bar *bar = &t->bars[i];
        if (!same_line(bar, &t->bars[at]))
            continue;
        line.start_s = fmin(line.start_s, bar->start_s);
        line.end_s = fmax(line.end_s, bar->end_s);
        line.busy_s += bar->end_s - bar->start_s;
        draw_bar(&line, bar->start_s / t->duration_s, bar->end_s / t->duration_s);
    }
    return line;
}

static int fill_line(struct sweep_table *table, size_t row, const struct report *report,
                     size_t at) {
    const struct report_bar *bar = &report->timeline.bars[at];
    struct line line = measure_line(&report->timeline, at);
    const double values[] = {1e3 * line.start_s, 1e3 * line.end_s, 1e3 * line.busy_s};
    char rank[32] = "";
    if (bar->rank >= 0)
        snprintf(rank, sizeof rank, "%d ", bar->rank);
    int result =
        sweep_table_set(table, row, 0, "%s%s: %s", rank, layout_host(report, bar->host), bar->name);
    for (size_t c = 0; c < 3 && result == 0; c++)
        result = sweep_table_number(table, row, c + 1, values[c]);
    return result ? result : sweep_table_set(table, row, 4, "%s", line.drawn);
}

static int add_timeline_table(struct sweep_tables *tables, const struct sweep *sweep,
                              const struct sweep_cell *cell) {
    static const char *const titles[] = {"rank, host: operator", "from (ms)", "to (ms)",
                                         "busy (ms)"};
    const struct report_timeline *t = &cell->typical->timeline;
    char label[LABEL_SIZE], title[160];
    size_t lines = count_lines(t), shown = lines > LINES_MAX ? LINES_MAX : lines, row = 1;
    sweep_values(sweep, cell, label, sizeof label);
    layout_timeline_title(cell->typical, title, sizeof title);
    struct sweep_table *table = sweep_table_new(
        tables, "timeline", label, shown + 1 + (lines > shown), 5, "%s: %s", label, title);
    int result =
        table ? sweep_table_set(table, 0, 4, "0 to %.4g ms", 1e3 * t->duration_s) : -ENOMEM;
    for (size_t c = 0; c < 4 && result == 0; c++)
        result = sweep_table_set(table, 0, c, "%s", titles[c]);
    for (size_t i = 0; i < t->n_bars && row <= shown && result == 0; i++)
        if (begins_line(t, i))
            result = fill_line(table, row++, cell->typical, i);
    if (result == 0 && lines > shown)
        result = sweep_table_set(table, row, 0, "... and %zu more", lines - shown);
    if (table)
        table->drawn = 4;
    return result;
}

int sweep_tables_add_timelines(struct sweep_tables *tables, const struct sweep *sweep) {
    int result = 0;
    for (size_t i = 0; i < sweep->n_cells && result == 0; i++) {
        const struct report *report = sweep->cells[i].typical;
        if (report && report->timeline.n_bars && report->timeline.duration_s > 0)
            result = add_timeline_table(tables, sweep, &sweep->cells[i]);
    }
    return result;
}
