/* SPDX-License-Identifier: MIT */
#include "analysis/time/budget.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/times.h"
#include "analysis/time/budget_private.h"

static const struct {
    const char *name;
    enum budget_class class;
} terms[BUDGET_TERMS] = {
    [BUDGET_CPU] = {"cpu", BUDGET_CLASS_OWN},
    [BUDGET_RUN_QUEUE] = {"runqueue", BUDGET_CLASS_LACKING},
    [BUDGET_QUOTA] = {"quota", BUDGET_CLASS_LACKING},
    [BUDGET_STEAL] = {"steal", BUDGET_CLASS_LACKING},
    [BUDGET_DISK] = {"disk", BUDGET_CLASS_LACKING},
    [BUDGET_MEMORY] = {"memory", BUDGET_CLASS_LACKING},
    [BUDGET_GPU] = {"gpu", BUDGET_CLASS_LACKING},
    [BUDGET_GPU_COPY] = {"gpu_copy", BUDGET_CLASS_LACKING},
    [BUDGET_STOPPED] = {"stopped", BUDGET_CLASS_ASLEEP},
    [BUDGET_IDLE] = {"idle", BUDGET_CLASS_ASLEEP},
    [BUDGET_PEER_WAIT] = {"peer_wait", BUDGET_CLASS_MPI},
    [BUDGET_TRANSFER] = {"transfer", BUDGET_CLASS_MPI},
    [BUDGET_FILE] = {"file", BUDGET_CLASS_MPI},
    [BUDGET_OVERHEAD] = {"mpi_overhead", BUDGET_CLASS_MPI},
    [BUDGET_UNSPLIT] = {"mpi_unsplit", BUDGET_CLASS_MPI},
};

enum budget_class budget_term_class(enum budget_term term) {
    return terms[term].class;
}

unsigned budget_class_terms(enum budget_class class) {
    unsigned bits = 0;
    for (int term = 0; term < BUDGET_TERMS; term++)
        bits |= terms[term].class == class ? 1u << term : 0;
    return bits;
}

unsigned budget_outside_terms(void) {
    return (1u << BUDGET_TERMS) - 1 - budget_class_terms(BUDGET_CLASS_MPI);
}

const char *budget_term_name(enum budget_term term) {
    return terms[term].name;
}

/* ---- cells ---- */

struct times {
    int64_t *items;
    size_t n;
    int64_t low, high;
};

static void add_time(struct times *times, int64_t t) {
    if (t >= times->low && t <= times->high)
        times->items[times->n++] = t;
}

/* Collects the times within the life of the process at which something begins or ends. */
static int collect_times(const struct budget_subject *s, const struct windows *windows, size_t n,
                         struct window lost, struct times *times) {
    size_t room = 4 + 2 * s->n_intervals;
    for (size_t w = 0; w < n; w++)
        room += 2 * windows[w].n;
    *times = (struct times){malloc(room * sizeof *times->items), 0, s->begin_ns, s->end_ns};
    if (!times->items)
        return -ENOMEM;
    add_time(times, s->begin_ns);
    add_time(times, s->end_ns);
    add_time(times, lost.begin_ns);
    add_time(times, lost.end_ns);
    for (size_t i = 0; i < s->n_intervals; i++) {
        add_time(times, s->intervals[i].begin_ns);
        add_time(times, s->intervals[i].end_ns);
    }
    for (size_t w = 0; w < n; w++)
        for (size_t i = 0; i < windows[w].n; i++) {
            add_time(times, windows[w].items[i].begin_ns);
            add_time(times, windows[w].items[i].end_ns);
        }
    qsort(times->items, times->n, sizeof *times->items, times_compare);
    return 0;
}

static int cut_cells(const struct times *times, struct window lost, struct cells *ret_cells) {
    struct cells cells = {.items = calloc(times->n + 1, sizeof *cells.items)};
    if (!cells.items)
        return -ENOMEM;
    for (size_t i = 0; i + 1 < times->n; i++)
        if (times->items[i + 1] > times->items[i])
            cells.items[cells.n++] = (struct cell){.begin_ns = times->items[i],
                                                   .end_ns = times->items[i + 1],
                                                   .events = times->items[i + 1] <= lost.begin_ns ||
                                                             times->items[i] >= lost.end_ns};
    *ret_cells = cells;
    return 0;
}

/* ---- windows ---- */

#define CLOCKED_MOST 0.8 /* of a window: clocks that tell less do not give the source alone */

static size_t first_cell(const struct cells *cells, int64_t t) {
    return TIMES_UNTIL(cells->items, cells->n, end_ns, t);
}

static double wall_of(const struct cells *cells, size_t c) {
    return cells->within ? budget_covered_ns(cells, c)
                         : (double)(cells->items[c].end_ns - cells->items[c].begin_ns);
}

/* Wait clocks may have begun a moment after the process, so they need to tell only most of the
 * window.
 */
static enum budget_source source_of(const struct budget *b, double clocked_s) {
    bool clocked = clocked_s >= CLOCKED_MOST * b->wall_s && b->source == BUDGET_FROM_COUNTERS;
    return clocked && clocked_s > 0 ? BUDGET_FROM_CLOCKS : b->source;
}

static void add_cell_terms(struct budget *b, const struct cell *c, double wall_ns, double *extra,
                           unsigned *dark) {
    b->wall_s += wall_ns / 1e9;
    for (int term = 0; term < BUDGET_TERMS; term++)
        b->term_s[term] += c->term[term] / 1e9;
    b->unknown_s += c->unknown / 1e9;
    *extra += c->extra_cpu / 1e9;
    *dark |= c->dark;
    if (c->source > b->source)
        b->source = c->source;
}

/* A term that could not be seen for a part of the window is not known, unless some of it was seen
 * elsewhere: then that is a lower bound.
 */
static void blank_dark(struct budget *b, unsigned dark) {
    for (int term = 0; term < BUDGET_TERMS; term++)
        if (dark >> term & 1 && b->term_s[term] <= 0)
            b->term_s[term] = NAN;
}

static struct budget sum_window(const struct cells *cells, struct windows window) {
    const struct cell *items = cells->within ? cells->within : cells->items;
    struct budget b = {.source = BUDGET_FROM_EVENTS};
    double extra = 0, sum = 0, clocked_s = 0;
    unsigned dark = 0;
    for (size_t i = 0; i < window.n; i++)
        for (size_t c = first_cell(cells, window.items[i].begin_ns);
             c < cells->n && cells->items[c].begin_ns < window.items[i].end_ns; c++) {
            add_cell_terms(&b, &items[c], wall_of(cells, c), &extra, &dark);
            clocked_s += items[c].source == BUDGET_FROM_CLOCKS ? wall_of(cells, c) / 1e9 : 0;
        }
    b.source = source_of(&b, clocked_s);
    for (int term = 0; term < BUDGET_TERMS; term++)
        sum += b.term_s[term];
    b.other_cpu_s = fmax(extra, 0);
    b.closure_pct = b.wall_s > 0 ? 100 * (sum + fmin(extra, 0)) / b.wall_s : NAN;
    blank_dark(&b, dark);
    return b;
}

/* The window in which events of the subject are missing. */
static struct window lost_events(const struct budget_subject *s) {
    const struct mpi_rank *rank = s->log ? &s->log->ranks[s->log_rank] : NULL;
    if (!rank || !rank->n)
        return (struct window){s->begin_ns, s->end_ns};
    int64_t lost = rank->lost_ns < s->end_ns ? rank->lost_ns : s->end_ns;
    int64_t found = rank->found_ns < s->end_ns ? rank->found_ns : s->end_ns;
    return (struct window){lost > s->begin_ns ? lost : s->begin_ns,
                           found > s->begin_ns ? found : s->begin_ns};
}

static int make(const struct budget_subject *s, const struct budget_parts *parts,
                const struct windows *windows, size_t n_windows, struct budget *ret_budgets,
                double *ret_awaited, struct budget_shares *ret_shares) {
    bool events = s->log && s->log->ranks[s->log_rank].n;
    struct window lost = lost_events(s);
    int64_t until = lost.end_ns < s->end_ns ? s->end_ns : lost.begin_ns;
    struct times times;
    struct cells cells = {0};
    int result = collect_times(s, windows, n_windows, lost, &times);
    if (result == 0)
        result = cut_cells(&times, lost, &cells);
    cells.shares = ret_shares;
    if (result == 0 && parts) {
        cells.within = calloc(cells.n + 1, sizeof *cells.within);
        cells.parts = parts;
        cells.windows = windows;
        cells.n_windows = n_windows;
        result = cells.within ? 0 : -ENOMEM;
    }
    if (result == 0 && events)
        result = budget_fill_events(s, until, &cells, n_windows ? windows[0] : (struct windows){0},
                                    ret_awaited);
    if (result == 0)
        budget_divide(s, &cells);
    for (size_t w = 0; result == 0 && w < n_windows; w++)
        ret_budgets[w] = sum_window(&cells, windows[w]);
    free(times.items);
    free(cells.items);
    free(cells.within);
    return result;
}

int budget_make(const struct budget_subject *subject, const struct windows *windows,
                size_t n_windows, struct budget *ret_budgets, double *ret_awaited) {
    return make(subject, NULL, windows, n_windows, ret_budgets, ret_awaited, NULL);
}

int budget_make_parts(const struct budget_subject *subject, const struct budget_parts *parts,
                      const struct windows *windows, size_t n_windows, struct budget *ret_budgets) {
    return make(subject, parts, windows, n_windows, ret_budgets, NULL, NULL);
}

int budget_make_shares(const struct budget_subject *subject, struct budget_shares *ret_shares) {
    memset(ret_shares, 0, subject->n_intervals * sizeof *ret_shares);
    return make(subject, NULL, NULL, 0, NULL, NULL, ret_shares);
}
