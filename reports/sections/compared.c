/* SPDX-License-Identifier: MIT */
/* Groups of runs side by side: a sentence about the differences, the groups, where the run time
 * went; at the end the typical run of each group in full. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/sections/compared.h"

#define PARTS_SHOWN 12 /* of the difference in run time; one line sums up the rest */
#define PART_MIN .005  /* of a group's run time; smaller parts belong to the rest */

void compared_put_head(const struct comparison *c, struct page *page) {
    if (c->n > c->n_groups)
        page_heading(page, 1, "Comparison of %zu groups of runs (* marks what is established)",
                     c->n_groups);
    else
        page_heading(page, 1, "Comparison of %zu runs", c->n);
}

void compared_put_changed(const struct comparison *c, struct page *page) {
    for (size_t g = 0; g < c->n_groups; g++)
        if (c->groups[g].changed)
            page_paragraph(page, STYLE_NOTE, "Changed in the command of %s: %s", c->groups[g].label,
                           c->groups[g].changed);
}

void section_compared(const struct comparison *c, struct page *page) {
    compared_put_head(c, page);
    page_break(page);
    if (c->headline)
        page_paragraph(page, STYLE_LEAD, "%s", c->headline);
    compared_put_changed(c, page);
    page_list(page, "mind", c->notes, c->n_notes);
    compared_put_document(c, page);
}

/* ---- who ---- */

/* In how many runs of the group the verdict agrees with that of the typical run. */
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

static void put_repeats(const struct comparison *c, size_t group, struct page *page) {
    const struct comparison_group *g = &c->groups[group];
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    page_heading(page, 2, "%s: %zu runs", g->label, g->n);
    for (size_t i = 0; out && i < g->n; i++)
        fprintf(out, " %lld", (long long)c->runs[g->runs[i]]->run_id);
    if (out && fclose(out) == 0)
        page_paragraph(page, STYLE_NOTE,
                       "Runs%s; run %lld is the one of median length, and %zu of %zu say what it "
                       "says.",
                       text, (long long)typical_run(c, group)->run_id, verdicts_alike(c, g), g->n);
    free(text);
    page_command(page, typical_run(c, group)->command);
}

static void put_verdict(const struct report *report, struct page *page) {
    const struct report_verdict *v = &report->verdict;
    if (page_has_room(page, ROOM_FULL))
        verdict_put(report, page);
    else
        page_statement(page, verdict_state_name(v->state), v->confidence, v->summary);
}

void section_compared_groups(const struct comparison *c, struct page *page) {
    for (size_t g = 0; g < c->n_groups; g++) {
        if (c->groups[g].n > 1)
            put_repeats(c, g, page);
        else
            run_put_head(c->runs[c->groups[g].runs[0]], page, 2);
        put_verdict(typical_run(c, g), page);
    }
}

/* ---- where the run time went ---- */

static void put_time_part(struct report_table *table, const struct comparison *c, const char *label,
                          const double *seconds) {
    size_t row = table_add(table, NULL);
    table_borrow(table, row, 0, label);
    for (size_t g = 0, column = c->n_groups + 1; g < c->n_groups; g++) {
        double growth = seconds[g] - seconds[c->baseline_group];
        table_number(table, row, g + 1, seconds[g]);
        if (g != c->baseline_group)
            table_number(table, row, column++, fabs(growth) < 0.005 ? 0 : growth)->before =
                growth >= 0.005 ? "+" : NULL;
    }
}

/* Whether the part is large enough, and among the first. */
static bool part_is_shown(const struct comparison *c, size_t part, const double *sums) {
    bool large = false;
    for (size_t g = 0; g < c->n_groups; g++)
        large |= fabs(c->parts[part].seconds[g]) >= PART_MIN * sums[g];
    return large && part < PARTS_SHOWN;
}

static void put_parts(const struct comparison *c, struct page *page, double *sums, double *rest) {
    struct report_table table;
    compared_init(&table, c, 2);
    table_title(&table, "Where the run time went (s%s; %s)",
                c->n > c->n_groups ? ", means of the runs" : "", c->parts_source);
    bool others = false;
    for (size_t i = 0; i < c->n_parts; i++)
        for (size_t g = 0; g < c->n_groups; g++)
            sums[g] += c->parts[i].seconds[g];
    for (size_t i = 0; i < c->n_parts; i++)
        if (part_is_shown(c, i, sums)) {
            put_time_part(&table, c, c->parts[i].label, c->parts[i].seconds);
        } else {
            others = true;
            for (size_t g = 0; g < c->n_groups; g++)
                rest[g] += c->parts[i].seconds[g];
        }
    if (others)
        put_time_part(&table, c, "all else", rest);
    put_time_part(&table, c, "run time", sums);
    page_table(page, &table);
}

void section_compared_parts(const struct comparison *c, struct page *page) {
    double *sums = c->n_parts ? calloc(2 * c->n_groups + 1, sizeof *sums) : NULL;
    if (sums)
        put_parts(c, page, sums, sums + c->n_groups);
    free(sums);
}

/* ---- all of it ---- */

void section_compared_details(const struct comparison *c, struct page *page) {
    for (size_t g = 0; page_has_room(page, ROOM_FULL) && g < c->n_groups; g++) {
        page_break(page);
        page_fold(page, "All of run %lld, %s", (long long)typical_run(c, g)->run_id,
                  typical_run(c, g)->run_name);
        sections_put_details(typical_run(c, g), page);
        page_unfold(page);
    }
}

void section_compared_figures(const struct comparison *c, struct page *page) {
    struct report_table table;
    if (!page_is_for(page, FOR_CSV))
        return;
    figures_init(&table);
    for (size_t i = 0; i < c->n; i++)
        figures_add(&table, c->runs[i], c->groups[c->group_of[i]].label);
    page_table(page, &table);
}
