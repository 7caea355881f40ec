/* SPDX-License-Identifier: MIT */
#include "reports/text/compared_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/terminal.h"
#include "reports/model/layout.h"

#define LABEL_WIDTH 30
#define LABEL_WIDTH_LOW 22 /* on lines of less than NARROW columns */
#define NARROW 80
#define CELL_MIN 12
#define FACTOR_WIDTH 11 /* beside the value of each other group */
#define PARTS_MAX 5     /* of the run time */
#define CHANGES_MAX 4   /* other quantities */
#define CHANGED 1.1     /* a quantity that changed less is not shown */
#define SHORT 0.005     /* of the run: a shorter part of it is nothing */

/* A table with its widths, which the names and the terminal give. */
struct grid {
    FILE *out;
    const struct comparison *c;
    const struct compared_shown *shown;
    size_t label, cell;
};

struct compared_shown compared_choose(const struct comparison *c) {
    struct compared_shown shown = {.group = {c->baseline_group}, .n = 1};
    for (size_t g = 0; g < c->n_groups && shown.n < COMPARED_GROUPS_MAX; g++)
        if (g != c->baseline_group)
            shown.group[shown.n++] = g;
    return shown;
}

static struct grid grid_of(FILE *out, const struct comparison *c,
                           const struct compared_shown *shown) {
    size_t columns = terminal_columns(out), widest = CELL_MIN;
    struct grid grid = {out, c, shown, columns < NARROW ? LABEL_WIDTH_LOW : LABEL_WIDTH, 0};
    for (size_t i = 0; i < shown->n; i++) {
        size_t width = terminal_width(c->groups[shown->group[i]].label) + 2;
        widest = width > widest ? width : widest;
    }
    size_t beside = grid.label + FACTOR_WIDTH * (shown->n - 1);
    size_t most = columns > beside ? (columns - beside) / shown->n : 0;
    grid.cell = widest < most ? widest : most > CELL_MIN ? most : CELL_MIN;
    return grid;
}

static void put_names(const struct grid *g) {
    fprintf(g->out, "%*s", (int)g->label, "");
    for (size_t i = 0; i < g->shown->n; i++) {
        const struct comparison_group *group = &g->c->groups[g->shown->group[i]];
        terminal_put(g->out, "  ", 0);
        terminal_put_cell(g->out, group->label, g->cell - 2, true);
        if (i && i + 1 < g->shown->n)
            fprintf(g->out, "%*s", FACTOR_WIDTH, "");
    }
    fputc('\n', g->out);
}

/* "1.35 x", "0.0137 x"; nothing if one of them is less than `least`, or they are too far apart. */
static void put_factor(const struct grid *g, double value, double base, double least, bool last) {
    char text[LAYOUT_NUMBER_SIZE], cell[LAYOUT_NUMBER_SIZE + 4];
    double ratio = value / base;
    bool known =
        isfinite(ratio) && ratio >= 0.001 && ratio < 1e6 && value >= least && base >= least;
    snprintf(cell, sizeof cell, "%s x", layout_number(text, ratio));
    if (known || !last)
        terminal_put_cell(g->out, known ? cell : "", FACTOR_WIDTH, true);
}

/* A row of values by group, in the unit. */
static void put_row(const struct grid *g, const char *label, const char *unit, const double *values,
                    double least) {
    char text[LAYOUT_NUMBER_SIZE], name[256];
    snprintf(name, sizeof name, *unit ? "  %.200s (%s)" : "  %.200s%s", label, unit);
    terminal_put_cell(g->out, name, g->label, false);
    for (size_t i = 0; i < g->shown->n; i++) {
        double value = values[g->shown->group[i]];
        terminal_put_cell(g->out, layout_number(text, value), g->cell, true);
        if (i)
            put_factor(g, value, values[g->shown->group[0]], least, i + 1 == g->shown->n);
    }
    fputc('\n', g->out);
}

/* ---- where the run time went ---- */

static double largest(const struct comparison_part *part, const struct compared_shown *shown) {
    double seconds = 0;
    for (size_t i = 0; i < shown->n; i++)
        seconds = fmax(seconds, fabs(part->seconds[shown->group[i]]));
    return seconds;
}

static double longest_run(const struct grid *g) {
    double seconds = 0;
    for (size_t i = 0; i < g->shown->n; i++)
        seconds = fmax(seconds, g->c->runs[g->c->groups[g->shown->group[i]].typical]->duration_s);
    return seconds;
}

/* The parts come sorted by how much they changed; those that are shown are not small. */
static bool is_shown(const struct grid *g, size_t part, size_t n_before, size_t most) {
    double seconds = 0;
    for (size_t i = 0; i < g->c->n_parts; i++)
        seconds = fmax(seconds, largest(&g->c->parts[i], g->shown));
    return n_before < most && largest(&g->c->parts[part], g->shown) >= seconds / 100;
}

/* Writes at most `lines` lines, at least three, and returns their number in *ret_lines. */
static int put_parts(const struct grid *g, size_t lines, size_t *ret_lines) {
    const struct comparison *c = g->c;
    double *rest = calloc(c->n_groups + 1, sizeof *rest), least = SHORT * longest_run(g);
    size_t n = 0, n_rest = 0, most = lines > 3 ? lines - 2 : 1;
    if (!rest)
        return -ENOMEM;
    most = most < PARTS_MAX ? most : PARTS_MAX;
    fprintf(g->out, "where the time went\n");
    for (size_t i = 0; i < c->n_parts; i++) {
        if (is_shown(g, i, n, most)) {
            put_row(g, c->parts[i].label, "s", c->parts[i].seconds, least);
            n++;
            continue;
        }
        for (size_t k = 0; k < c->n_groups; k++)
            rest[k] += c->parts[i].seconds[k];
        n_rest++;
    }
    if (n_rest)
        put_row(g, "all else", "s", rest, least);
    *ret_lines = 1 + n + (n_rest > 0);
    free(rest);
    return 0;
}

/* ---- what else changed ---- */

/* How far the groups are from the baseline, as a factor of at least 1; 0: not known, or the
 * quantity is not one to compare. Values below the least of their unit count as that. */
static double change_of(const struct comparison_row *row, const struct compared_shown *shown) {
    double least = comparison_least(row->unit), change = 0;
    double base = fmax(row->groups[shown->group[0]].shown, least);
    for (size_t i = 1; i < shown->n; i++) {
        double value = fmax(row->groups[shown->group[i]].shown, least);
        if (value > 0 && base > 0)
            change = fmax(change, fmax(value / base, base / value));
    }
    return row->not_alike || row->section == COMPARISON_TIME ? 0 : change;
}

static int put_quantity(const struct grid *g, const struct comparison_row *row) {
    double *values = calloc(g->c->n_groups + 1, sizeof *values);
    if (!values)
        return -ENOMEM;
    for (size_t k = 0; k < g->c->n_groups; k++)
        values[k] = row->groups[k].shown;
    put_row(g, row->label, row->unit, values, comparison_least(row->unit));
    free(values);
    return 0;
}

static int put_changes(const struct grid *g, size_t lines) {
    size_t most = lines > 1 ? lines - 1 : 0;
    double below = INFINITY;
    int result = 0;
    most = most < CHANGES_MAX ? most : CHANGES_MAX;
    for (size_t n = 0; result == 0 && n < most; n++) {
        const struct comparison_row *found = NULL;
        for (size_t i = 0; i < g->c->n_summary; i++) {
            double change = change_of(&g->c->summary[i], g->shown);
            if (change < below && change >= CHANGED &&
                (!found || change > change_of(found, g->shown)))
                found = &g->c->summary[i];
        }
        if (!found)
            break;
        below = change_of(found, g->shown);
        if (n == 0)
            fprintf(g->out, "what else changed most\n");
        result = put_quantity(g, found);
    }
    return result;
}

int compared_put_rows(FILE *out, const struct comparison *c, const struct compared_shown *shown,
                      size_t lines) {
    struct grid grid = grid_of(out, c, shown);
    size_t used = 0, left = lines;
    int result = 0;
    put_names(&grid);
    left -= left > 0;
    if (c->n_summary) {
        result = put_quantity(&grid, &c->summary[0]);
        left -= left > 0;
    }
    if (shown->n < c->n_groups) {
        fprintf(out, "  %zu more group%s not shown here\n", c->n_groups - shown->n,
                c->n_groups - shown->n == 1 ? " is" : "s are");
        left -= left > 0;
    }
    if (result == 0 && c->n_parts)
        result = put_parts(&grid, left, &used);
    return result ? result : put_changes(&grid, left > used ? left - used : 0);
}
