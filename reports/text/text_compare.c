/* SPDX-License-Identifier: MIT */
/* Groups of runs side by side (T2, T3, T5): under each quantity a line a group, a column a host,
 * and what each group differs by from the baseline. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/model/layout.h"
#include "reports/text/terminal.h"
#include "reports/text/text.h"

#define PARTS_SHOWN 8 /* of the difference in run time; the rest is one line */

/* How a line begins that speaks of a group. */
static const char *group_label(const struct comparison *c, size_t group, char *text, size_t size) {
    const struct comparison_group *g = &c->groups[group];
    const char *mark = group == c->baseline_group ? ", baseline" : "";
    if (g->n == 1)
        snprintf(text, size, "%.40s (run %lld%s)", g->label, (long long)c->runs[g->runs[0]]->run_id,
                 mark);
    else
        snprintf(text, size, "%.40s (%zu runs%s)", g->label, g->counted ? g->counted : g->n, mark);
    return text;
}

static bool is_established(const struct comparison_cell *cell) {
    return cell->finding == COMPARE_LOWER || cell->finding == COMPARE_HIGHER;
}

/* "+3.20*": the star says that it is established. */
static const char *difference(char *text, size_t size, const struct comparison_cell *cell) {
    char number[LAYOUT_NUMBER_SIZE];
    snprintf(text, size, "%s%s%s", cell->difference > 0 ? "+" : "",
             layout_number(number, cell->difference), is_established(cell) ? "*" : "");
    return text;
}

/* ---- the whole run ---- */

static size_t section_end(const struct comparison *c, size_t begin) {
    size_t end = begin + 1;
    while (end < c->n_summary && c->summary[end].section == c->summary[begin].section)
        end++;
    return end;
}

/* A line a group, a column a quantity; then the lines of differences. */
static void put_section(FILE *out, const struct comparison *c, size_t begin, size_t end) {
    struct text_table table;
    char text[128];
    text_table_init(&table, 2 * c->n_groups, end - begin + 1);
    for (size_t s = begin; s < end; s++) {
        const struct comparison_row *row = &c->summary[s];
        text_table_set(&table, 0, s - begin + 1, row->unit[0] ? "%s (%s)" : "%s", row->label,
                       row->unit);
        for (size_t g = 0, line = c->n_groups + 1; g < c->n_groups; g++) {
            text_table_number(&table, g + 1, s - begin + 1, row->groups[g].shown);
            if (g != c->baseline_group)
                text_table_set(&table, line++, s - begin + 1, "%s",
                               difference(text, sizeof text, &row->groups[g]));
        }
    }
    for (size_t g = 0, line = c->n_groups + 1; g < c->n_groups; g++) {
        text_table_set(&table, g + 1, 0, "%s", group_label(c, g, text, sizeof text));
        if (g != c->baseline_group)
            text_table_set(&table, line++, 0, "difference of %.30s", c->groups[g].label);
    }
    text_table_print(&table, out, 2);
    text_table_release(&table);
}

static void put_summary(FILE *out, const struct comparison *c) {
    static const char *const explanations[COMPARISON_SECTIONS] = {
        [COMPARISON_JOB] = " (sums over hosts; CPU 100 % is one core)",
        [COMPARISON_EFFICIENCY] = " (POP, main phase)",
    };
    bool repeats = c->n > c->n_groups;
    for (size_t begin = 0, end; begin < c->n_summary; begin = end) {
        enum comparison_section section = c->summary[begin].section;
        char title[128];
        end = section_end(c, begin);
        snprintf(title, sizeof title, "%s%s%s", comparison_section_title(section),
                 explanations[section] ? explanations[section] : "",
                 section == COMPARISON_TIME && repeats ? " (medians of the repeats, also below)"
                                                       : "");
        if (title[0] >= 'a' && title[0] <= 'z')
            title[0] = (char)(title[0] - 'a' + 'A');
        text_put_heading(out, title);
        put_section(out, c, begin, end);
    }
}

/* ---- where the difference in run time lies ---- */

static void put_part(struct text_table *table, const struct comparison *c, size_t row,
                     const char *label, const double *seconds) {
    text_table_set(table, row, 0, "%s", label);
    for (size_t g = 0, column = c->n_groups + 1; g < c->n_groups; g++) {
        double growth = seconds[g] - seconds[c->baseline_group];
        text_table_set(table, row, g + 1, "%.2f", seconds[g]);
        if (g != c->baseline_group)
            text_table_set(table, row, column++, "%+.2f", fabs(growth) < 0.005 ? 0 : growth);
    }
}

static void put_part_heads(struct text_table *table, const struct comparison *c) {
    for (size_t g = 0, column = c->n_groups + 1; g < c->n_groups; g++) {
        text_table_set(table, 0, g + 1, "%.30s", c->groups[g].label);
        if (g != c->baseline_group)
            text_table_set(table, 0, column++, "difference of %.30s", c->groups[g].label);
    }
}

static void put_parts(FILE *out, const struct comparison *c) {
    size_t shown = c->n_parts < PARTS_SHOWN ? c->n_parts : PARTS_SHOWN;
    struct text_table table;
    double *sums = calloc(2 * c->n_groups + 1, sizeof *sums), *rest = sums + c->n_groups;
    char title[128];
    if (!c->n_parts || !sums) {
        free(sums);
        return;
    }
    snprintf(title, sizeof title, "Where the run time went (s%s; %s)",
             c->n > c->n_groups ? ", means of the runs" : "", c->parts_source);
    text_put_heading(out, title);
    text_table_init(&table, shown + 3, 2 * c->n_groups);
    put_part_heads(&table, c);
    for (size_t i = 0; i < c->n_parts; i++)
        for (size_t g = 0; g < c->n_groups; g++) {
            sums[g] += c->parts[i].seconds[g];
            rest[g] += i >= shown ? c->parts[i].seconds[g] : 0;
        }
    for (size_t i = 0; i < shown; i++)
        put_part(&table, c, i + 1, c->parts[i].label, c->parts[i].seconds);
    put_part(&table, c, shown + 1, "all else", rest);
    put_part(&table, c, shown + 2, "run time", sums);
    text_table_print(&table, out, 2);
    text_table_release(&table);
    free(sums);
}

/* ---- hosts ---- */

static void put_metric(struct text_table *table, size_t row, const struct comparison *c,
                       const struct comparison_row *rows, const char *label) {
    char text[128];
    text_table_set(table, row, 0, "%s", label);
    for (size_t g = 0, line = row + c->n_groups + 1; g < c->n_groups; g++) {
        text_table_set(table, row + 1 + g, 0, "  %s", group_label(c, g, text, sizeof text));
        if (g != c->baseline_group)
            text_table_set(table, line, 0, "  difference of %.30s", c->groups[g].label);
        for (size_t h = 0; h < c->n_hosts; h++) {
            text_table_number(table, row + 1 + g, h + 1, rows[h].groups[g].shown);
            if (g != c->baseline_group)
                text_table_set(table, line, h + 1, "%s",
                               difference(text, sizeof text, &rows[h].groups[g]));
        }
        line += g != c->baseline_group;
    }
}

static void put_resources(FILE *out, const struct comparison *c) {
    struct text_table table;
    size_t lines = 2 * c->n_groups;
    if (!c->n_resources)
        return;
    text_table_init(&table, 1 + c->n_metrics * lines, c->n_hosts + 1);
    for (size_t h = 0; h < c->n_hosts; h++)
        text_table_set(&table, 0, h + 1, "%s", layout_host(c->runs[c->baseline], c->hosts[h]));
    for (size_t m = 0; m < c->n_metrics; m++)
        put_metric(&table, 1 + m * lines, c, &c->resources[m * c->n_hosts], c->metrics[m].label);
    text_put_heading(out, c->n > c->n_groups ? "Averages per host, whole run (means of the repeats)"
                                             : "Averages per host, whole run");
    text_table_print(&table, out, 2);
    text_table_release(&table);
}

/* ---- whether it is real ---- */

struct tally {
    size_t established, tested;
    const char *reason; /* why nothing was tested */
};

static void put_judged_row(FILE *out, const struct comparison *c, const struct comparison_row *row,
                           struct tally *tally) {
    char label[160];
    for (size_t g = 0; g < c->n_groups; g++) {
        const struct comparison_cell *cell = &row->groups[g];
        if (!cell->words || isnan(cell->difference))
            continue;
        if (is_established(cell)) {
            snprintf(label, sizeof label, "  %.60s, %.30s: ", row->label, c->groups[g].label);
            terminal_paragraph(out, label, cell->words + strlen("established: "), 0);
            tally->established++;
        } else if (!isnan(cell->test.p))
            tally->tested++;
        else if (!tally->reason && !row->not_alike && !row->of_ceiling)
            tally->reason = cell->words;
    }
}

/* What is established is said one by one, what is not by how often, or why. */
static void put_judgements(FILE *out, const struct comparison *c) {
    struct tally tally = {0};
    fputs("\nWhether the differences are real\n", out);
    for (size_t i = 0; i < c->n_summary; i++)
        put_judged_row(out, c, &c->summary[i], &tally);
    for (size_t i = 0; i < c->n_resources; i++)
        put_judged_row(out, c, &c->resources[i], &tally);
    if (tally.reason)
        terminal_paragraph(out, tally.established + tally.tested ? "  others: " : "  ",
                           tally.reason, 0);
    if (tally.tested)
        fprintf(out, "  %zu difference%s tested and not established (--format json has each)\n",
                tally.tested, tally.tested == 1 ? "" : "s");
    if (!tally.established && !tally.tested && !tally.reason)
        fputs("  nothing to compare\n", out);
}

/* ---- who is compared ---- */

/* In how many runs of the group the verdict names what it names in the typical one. */
static size_t verdicts_alike(const struct comparison *c, const struct comparison_group *group) {
    const struct report_verdict *v = &c->runs[group->typical]->verdict;
    size_t n = 0;
    for (size_t i = 0; i < group->n; i++) {
        const struct report_verdict *other = &c->runs[group->runs[i]]->verdict;
        n += other->state == v->state && other->host == v->host &&
             strcmp(other->resource, v->resource) == 0;
    }
    return n;
}

static void put_repeats(FILE *out, const struct comparison *c, size_t group) {
    const struct comparison_group *g = &c->groups[group];
    char text[128], label[128];
    terminal_put(out, group_label(c, group, text, sizeof text), 0);
    fputs(": runs", out);
    for (size_t i = 0; i < g->n; i++)
        fprintf(out, " %lld", (long long)c->runs[g->runs[i]]->run_id);
    fputc('\n', out);
    terminal_paragraph(out, "  ", c->runs[g->typical]->command, 4);
    snprintf(label, sizeof label, "  %zu of %zu runs say, as run %lld: ", verdicts_alike(c, g),
             g->n, (long long)c->runs[g->typical]->run_id);
    terminal_paragraph(out, label, c->runs[g->typical]->verdict.summary, 0);
}

static void put_groups(FILE *out, const struct comparison *c) {
    for (size_t g = 0; g < c->n_groups; g++) {
        const struct report *first = c->runs[c->groups[g].runs[0]];
        fputc('\n', out);
        if (c->groups[g].n > 1) {
            put_repeats(out, c, g);
            continue;
        }
        text_put_head(out, first);
        terminal_paragraph(out, "  ", first->verdict.summary, 0);
    }
}

int text_write_comparison(const struct comparison *c, FILE *out) {
    if (c->n > c->n_groups)
        fprintf(out, "Comparison of %zu groups of runs (* marks what is established)\n",
                c->n_groups);
    else
        fprintf(out, "Comparison of %zu runs\n", c->n);
    put_groups(out, c);
    if (c->headline) {
        fputc('\n', out);
        terminal_paragraph(out, "", c->headline, 0);
    }
    put_parts(out, c);
    put_summary(out, c);
    put_resources(out, c);
    put_judgements(out, c);
    if (c->n_notes)
        fputs("\nMind\n", out);
    text_put_list(out, "  - ", c->notes, c->n_notes);
    return ferror(out) ? -EIO : 0;
}
