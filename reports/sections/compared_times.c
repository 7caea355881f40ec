/* SPDX-License-Identifier: MIT */
/* How long each group of runs took and where the time went, side by side, and first whether the
 * groups did the same work. Pages only: other formats have the sentences and the table. */
#include <errno.h>
#include <stdlib.h>

#include "reports/plot/colour.h"
#include "reports/plot/plot.h"
#include "reports/plot/runs.h"
#include "reports/says/term_words.h"
#include "reports/sections/compared.h"

static const char *not_alike(const struct comparison *c) {
    for (size_t i = 0; i < c->n_summary; i++)
        if (c->summary[i].not_alike)
            return c->summary[i].not_alike;
    return NULL;
}

static void fill_row(const struct comparison *c, size_t group, double *durations,
                     struct runs_part *parts, struct runs_row *row) {
    const struct comparison_group *g = &c->groups[group];
    *row = (struct runs_row){.name = g->label, .runs = durations, .parts = parts};
    for (size_t i = 0; i < g->n; i++)
        if (!g->counted || comparison_counts(c, g->runs[i]))
            durations[row->n_runs++] = c->runs[g->runs[i]]->duration_s;
    for (size_t i = 0; i < c->n_parts; i++) {
        int term = c->parts[i].term;
        parts[row->n_parts++] = (struct runs_part){
            term < 0 ? "outside the ranks" : budget_term_words((enum budget_term)term),
            term < 0 ? COLOUR_UNSPLIT : budget_term_colour((enum budget_term)term),
            c->parts[i].seconds[group]};
    }
}

/* Parts of one colour stand beside each other, in the order of the budget's terms. */
static int compare_terms(const void *a, const void *b) {
    const struct comparison_part *x = a, *y = b;
    return (x->term + BUDGET_TERMS + 1) % (BUDGET_TERMS + 1) -
           (y->term + BUDGET_TERMS + 1) % (BUDGET_TERMS + 1);
}

static char *draw(const struct comparison *c) {
    struct comparison by_term = *c;
    struct runs_row *rows = calloc(c->n_groups + 1, sizeof *rows);
    double *durations = calloc(c->n + 1, sizeof *durations);
    struct runs_part *parts = calloc(c->n_groups * c->n_parts + 1, sizeof *parts);
    by_term.parts = calloc(c->n_parts + 1, sizeof *by_term.parts);
    char *svg = NULL;
    errno = ENOMEM;
    if (rows && durations && parts && by_term.parts) {
        for (size_t i = 0; i < c->n_parts; i++)
            by_term.parts[i] = c->parts[i];
        qsort(by_term.parts, c->n_parts, sizeof *by_term.parts, compare_terms);
        for (size_t g = 0, at = 0; g < c->n_groups; at += c->groups[g++].n)
            fill_row(&by_term, g, durations + at, parts + g * c->n_parts, &rows[g]);
        svg = runs_draw(rows, c->n_groups);
    }
    int saved = errno;
    free(rows);
    free(durations);
    free(parts);
    free(by_term.parts);
    errno = saved;
    return svg;
}

void section_compared_times(const struct comparison *c, struct page *page) {
    const char *unlike = not_alike(c);
    if (unlike && !c->headline) /* the headline begins with it */
        page_paragraph(page, STYLE_LEAD, "The runs did not do the same work: %s.", unlike);
    if (c->headline)
        page_paragraph(page, STYLE_LEAD, "%s", c->headline);
    compared_put_changed(c, page);
    char *svg = draw(c);
    page_drawn(page, &(struct page_picture){.svg = svg,
                                            .why = errno,
                                            .name = "runs",
                                            .held = RUNS_LEFT,
                                            .caption = "Run times, and where they went",
                                            .finding = c->n > c->n_groups
                                                           ? "A bar is the mean, a point a run, a "
                                                             "line reaches from the shortest to "
                                                             "the longest."
                                                           : NULL});
    free(svg);
    section_compared_parts(c, page);
    page_list(page, "mind", c->notes, c->n_notes);
}
