/* SPDX-License-Identifier: MIT */
/* Adds divided cells to the windows that they lie in, in one pass: cells come in order, and each
 * window is looked at from its begin to its end.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/time/budget_private.h"

#define CLOCKED_MOST 0.8 /* of a window: clocks that tell less do not give the source alone */

static int compare_spans(const void *a, const void *b) {
    const struct window_span *x = a, *y = b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    if (x->window != y->window)
        return x->window < y->window ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

int window_sums_init(const struct windows *windows, size_t n, struct budget *budgets,
                     struct window_sums *ret_sums) {
    struct window_sums sums = {.budgets = budgets, .n = n};
    size_t spans = 0;
    for (size_t w = 0; w < n; w++)
        spans += windows[w].n;
    sums.more = calloc(n + 1, sizeof *sums.more);
    sums.spans = malloc((spans + 1) * sizeof *sums.spans);
    sums.active = malloc((spans + 1) * sizeof *sums.active);
    *ret_sums = sums;
    if (!sums.more || !sums.spans || !sums.active)
        return -ENOMEM;
    for (size_t w = 0; w < n; w++) {
        budgets[w] = (struct budget){.source = BUDGET_FROM_EVENTS};
        for (size_t i = 0; i < windows[w].n; i++)
            ret_sums->spans[ret_sums->n_spans++] = (struct window_span){
                windows[w].items[i].begin_ns, windows[w].items[i].end_ns, (uint32_t)w, (uint32_t)i};
    }
    qsort(ret_sums->spans, spans, sizeof *ret_sums->spans, compare_spans);
    return 0;
}

void window_sums_release(struct window_sums *sums) {
    free(sums->more);
    free(sums->spans);
    free(sums->active);
}

static void add_terms(const struct cell *c, double wall_ns, struct budget *b,
                      struct window_more *more) {
    b->wall_s += wall_ns / 1e9;
    for (int term = 0; term < BUDGET_TERMS; term++)
        b->term_s[term] += c->term[term] / 1e9;
    b->unknown_s += c->unknown / 1e9;
    more->extra += c->extra_cpu / 1e9;
    more->dark |= c->dark;
    if (c->source > b->source)
        b->source = c->source;
    more->clocked_s += c->source == BUDGET_FROM_CLOCKS ? wall_ns / 1e9 : 0;
}

/* Begins the windows that have a part of [begin, end), and lets go of those that ended. */
static void move_on(struct window_sums *s, int64_t begin, int64_t end) {
    size_t kept = 0;
    while (s->next < s->n_spans && s->spans[s->next].begin_ns < end)
        s->active[s->n_active++] = (uint32_t)s->next++;
    for (size_t i = 0; i < s->n_active; i++)
        if (s->spans[s->active[i]].end_ns > begin)
            s->active[kept++] = s->active[i];
    s->n_active = kept;
}

void budget_add_cells(struct cells *cells, size_t first, size_t end) {
    struct window_sums *s = cells->sums;
    for (size_t c = first; s && c < end; c++) {
        move_on(s, cells->times[c], cells->times[c + 1]);
        if (!s->n_active)
            continue;
        const struct cell *cell = cells->parts ? cells_within(cells, c) : cells_at(cells, c);
        double wall = cells->parts ? budget_covered_ns(cells, c) : cells_length(cells, c);
        for (size_t i = 0; i < s->n_active; i++) {
            size_t w = s->spans[s->active[i]].window;
            add_terms(cell, wall, &s->budgets[w], &s->more[w]);
        }
    }
}

/* A term that could not be seen for a part of the window is not known, unless some of it was seen
 * elsewhere: then that is a lower bound.
 */
static void blank_dark(struct budget *b, unsigned dark) {
    for (int term = 0; term < BUDGET_TERMS; term++)
        if (dark >> term & 1 && b->term_s[term] <= 0)
            b->term_s[term] = NAN;
}

/* Wait clocks may have begun a moment after the process, so they need to tell only most of the
 * window.
 */
static enum budget_source source_of(const struct budget *b, double clocked_s) {
    bool clocked = clocked_s >= CLOCKED_MOST * b->wall_s && b->source == BUDGET_FROM_COUNTERS;
    return clocked && clocked_s > 0 ? BUDGET_FROM_CLOCKS : b->source;
}

void window_sums_finish(struct window_sums *sums) {
    for (size_t w = 0; w < sums->n; w++) {
        struct budget *b = &sums->budgets[w];
        double sum = 0, extra = sums->more[w].extra;
        b->source = source_of(b, sums->more[w].clocked_s);
        for (int term = 0; term < BUDGET_TERMS; term++)
            sum += b->term_s[term];
        b->other_cpu_s = fmax(extra, 0);
        b->closure_pct = b->wall_s > 0 ? 100 * (sum + fmin(extra, 0)) / b->wall_s : NAN;
        blank_dark(b, sums->more[w].dark);
    }
}
