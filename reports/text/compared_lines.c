/* SPDX-License-Identifier: MIT */
/*
 * A comparison on one screen: the run times, where they went, the limits, and what else changed
 * most. Each group of runs has a column; beside its value stands the factor from the baseline.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/comparison/comparison.h"
#include "reports/formats/terminal.h"
#include "reports/model/layout.h"
#include "reports/says/commands.h"
#include "reports/says/text_list.h"
#include "reports/writer.h"

#define LABEL_WIDTH 30
#define CELL_WIDTH 16   /* of the baseline */
#define FACTOR_WIDTH 11 /* beside the value of each other group */
#define GROUPS_MAX 3    /* columns that fit */
#define PARTS_MAX 5     /* of the run time */
#define CHANGES_MAX 4   /* other quantities */
#define NOTES_MAX 2
#define NOTE_LINES 3
#define CHANGED 1.1 /* a quantity that changed less is not shown */

/* The groups that are shown, the baseline first. */
struct shown {
    size_t group[GROUPS_MAX];
    size_t n;
};

static struct shown choose_groups(const struct comparison *c) {
    struct shown shown = {.group = {c->baseline_group}, .n = 1};
    for (size_t g = 0; g < c->n_groups && shown.n < GROUPS_MAX; g++)
        if (g != c->baseline_group)
            shown.group[shown.n++] = g;
    return shown;
}

static void put_names(FILE *out, const struct comparison *c, const struct shown *shown) {
    fprintf(out, "%*s", LABEL_WIDTH, "");
    for (size_t i = 0; i < shown->n; i++) {
        const struct comparison_group *group = &c->groups[shown->group[i]];
        terminal_put(out, "  ", 0);
        terminal_put_cell(out, group->label, CELL_WIDTH - 2, true);
        if (i && i + 1 < shown->n)
            fprintf(out, "%*s", FACTOR_WIDTH, "");
    }
    fputc('\n', out);
}

/* "1.35 x", "0.0137 x"; a sign for what was not there before. */
static void put_factor(FILE *out, double value, double base) {
    char text[LAYOUT_NUMBER_SIZE], cell[LAYOUT_NUMBER_SIZE + 4];
    double ratio = value / base;
    bool known = isfinite(ratio) && ratio >= 0.001 && ratio < 1e6;
    snprintf(cell, sizeof cell, "%s x", layout_number(text, ratio));
    terminal_put_cell(out, known ? cell : "", FACTOR_WIDTH, true);
}

/* A row of values by group, in the unit. */
static void put_row(FILE *out, const struct shown *shown, const char *label, const char *unit,
                    const double *values) {
    char text[LAYOUT_NUMBER_SIZE], name[256];
    snprintf(name, sizeof name, *unit ? "  %.200s (%s)" : "  %.200s%s", label, unit);
    terminal_put_cell(out, name, LABEL_WIDTH, false);
    for (size_t i = 0; i < shown->n; i++) {
        double value = values[shown->group[i]];
        terminal_put_cell(out, layout_number(text, value), CELL_WIDTH, true);
        if (i)
            put_factor(out, value, values[shown->group[0]]);
    }
    fputc('\n', out);
}

/* ---- where the run time went ---- */

static double largest(const struct comparison_part *part, const struct shown *shown) {
    double seconds = 0;
    for (size_t i = 0; i < shown->n; i++)
        seconds = fmax(seconds, fabs(part->seconds[shown->group[i]]));
    return seconds;
}

/* The parts come sorted by how much they changed; those that are shown are not small. */
static bool is_shown(const struct comparison *c, const struct shown *shown, size_t part,
                     size_t n_before) {
    double seconds = 0;
    for (size_t i = 0; i < c->n_parts; i++)
        seconds = fmax(seconds, largest(&c->parts[i], shown));
    return n_before < PARTS_MAX && largest(&c->parts[part], shown) >= seconds / 100;
}

static int put_parts(FILE *out, const struct comparison *c, const struct shown *shown) {
    double *rest = calloc(c->n_groups + 1, sizeof *rest);
    size_t n = 0, n_rest = 0;
    if (!rest)
        return -ENOMEM;
    fprintf(out, "where the time went\n");
    for (size_t i = 0; i < c->n_parts; i++) {
        if (is_shown(c, shown, i, n)) {
            put_row(out, shown, c->parts[i].label, "s", c->parts[i].seconds);
            n++;
            continue;
        }
        for (size_t g = 0; g < c->n_groups; g++)
            rest[g] += c->parts[i].seconds[g];
        n_rest++;
    }
    if (n_rest)
        put_row(out, shown, "all else", "s", rest);
    free(rest);
    return 0;
}

/* ---- what else changed ---- */

/* How far the groups are from the baseline, as a factor of at least 1; 0: not known, or the
 * quantity is not one to compare. */
static double change_of(const struct comparison_row *row, const struct shown *shown) {
    double base = row->groups[shown->group[0]].shown, change = 0;
    for (size_t i = 1; i < shown->n; i++) {
        double value = row->groups[shown->group[i]].shown;
        if (value > 0 && base > 0)
            change = fmax(change, fmax(value / base, base / value));
    }
    return row->not_alike || row->section == COMPARISON_TIME ? 0 : change;
}

static int put_quantity(FILE *out, const struct comparison *c, const struct shown *shown,
                        const struct comparison_row *row) {
    double *values = calloc(c->n_groups + 1, sizeof *values);
    if (!values)
        return -ENOMEM;
    for (size_t g = 0; g < c->n_groups; g++)
        values[g] = row->groups[g].shown;
    put_row(out, shown, row->label, row->unit, values);
    free(values);
    return 0;
}

static int put_changes(FILE *out, const struct comparison *c, const struct shown *shown) {
    double below = INFINITY;
    int result = 0;
    for (size_t n = 0; result == 0 && n < CHANGES_MAX; n++) {
        const struct comparison_row *most = NULL;
        for (size_t i = 0; i < c->n_summary; i++) {
            double change = change_of(&c->summary[i], shown);
            if (change < below && change >= CHANGED && (!most || change > change_of(most, shown)))
                most = &c->summary[i];
        }
        if (!most)
            break;
        below = change_of(most, shown);
        if (n == 0)
            fprintf(out, "what else changed most\n");
        result = put_quantity(out, c, shown, most);
    }
    return result;
}

/* ---- limits ---- */

static void put_limits(FILE *out, const struct comparison *c, const struct shown *shown) {
    for (size_t i = 0; i < shown->n; i++) {
        const struct comparison_group *group = &c->groups[shown->group[i]];
        const struct report *report = c->runs[group->typical];
        AUTO(text_free)
        char *text = text_format("%.40s: %s", group->label,
                                 report->verdict.limit ? report->verdict.limit : "not known");
        if (text)
            terminal_paragraph(out, i ? "          " : "limits    ", text, 2);
    }
}

/* "4.21 % longer", "as fast" */
static void say_slower(char *text, size_t size, double slower) {
    char number[LAYOUT_NUMBER_SIZE];
    if (fabs(slower) < 0.00005)
        snprintf(text, size, "as fast");
    else
        snprintf(text, size, "%s %% %s", layout_number(number, fabs(100 * slower)),
                 slower > 0 ? "longer" : "shorter");
}

static char *say_gated(const struct comparison *c, size_t group) {
    const struct gated *gated = &c->gate.each[group];
    const char *name = c->groups[group].label;
    char slower[LAYOUT_NUMBER_SIZE + 16];
    if (isnan(gated->slower))
        return text_format("%.40s: failed, its run time is not known", name);
    say_slower(slower, sizeof slower, gated->slower);
    bool by_test = gated->passed && gated->slower > c->gate.limit;
    return text_format("%.40s: %s, %s%s (limit %g %%)%s", name, gated->passed ? "passed" : "failed",
                       slower, gated->per_work ? " for the same work" : "", 100 * c->gate.limit,
                       by_test ? "; the runs do not establish it" : "");
}

static int put_gate(FILE *out, const struct comparison *c) {
    for (size_t g = 0; c->gate.each && g < c->n_groups; g++) {
        if (g == c->baseline_group)
            continue;
        AUTO(text_free) char *text = say_gated(c, g);
        if (!text)
            return -ENOMEM;
        terminal_paragraph(out, "gate      ", text, 2);
    }
    return 0;
}

static int put_full_command(FILE *out, const struct comparison *c, const char *words) {
    AUTO(text_free) char *arguments = text_format("%s -v", words);
    AUTO(text_free)
    char *command = arguments ? command_words(&c->runs[c->baseline]->caller,
                                              (struct command){"compare", arguments})
                              : NULL;
    if (!command)
        return -ENOMEM;
    fprintf(out, "more      %s\n", command);
    return 0;
}

static int put_tables(FILE *out, const struct comparison *c) {
    struct shown shown = choose_groups(c);
    put_names(out, c, &shown);
    int result = c->n_summary ? put_quantity(out, c, &shown, &c->summary[0]) : 0;
    if (result == 0 && c->n_parts)
        result = put_parts(out, c, &shown);
    if (result == 0)
        result = put_changes(out, c, &shown);
    if (shown.n < c->n_groups)
        fprintf(out, "  %zu more groups are not shown here\n", c->n_groups - shown.n);
    put_limits(out, c, &shown);
    return result;
}

int comparison_write_lines(const struct comparison *c, const char *words, FILE *out) {
    if (c->headline)
        terminal_paragraph(out, "compared  ", c->headline, 6);
    int result = put_tables(out, c);
    for (size_t i = 0; i < c->n_notes && i < NOTES_MAX; i++)
        terminal_paragraph(out, i ? "          " : "mind      ", c->notes[i], NOTE_LINES);
    if (result == 0)
        result = put_gate(out, c);
    if (result == 0)
        result = put_full_command(out, c, words);
    return result == 0 && ferror(out) ? -EIO : result;
}
