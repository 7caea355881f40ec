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
    return times_sort(times->items, times->n);
}

/* Keeps each time once: cells lie between them. */
static void cut_cells(const struct times *times, struct cells *cells) {
    size_t n = 0;
    for (size_t i = 0; i < times->n; i++)
        if (!n || times->items[i] > times->items[n - 1])
            times->items[n++] = times->items[i];
    cells->times = times->items;
    cells->n = n ? n - 1 : 0;
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
    struct times times = {0};
    struct window_sums sums = {.n = 0};
    struct cells cells = {.subject = s,
                          .lost = lost,
                          .shares = ret_shares,
                          .sums = &sums,
                          .parts = parts,
                          .windows = windows,
                          .n_windows = n_windows};
    int result = collect_times(s, windows, n_windows, lost, &times);
    cut_cells(&times, &cells);
    if (result == 0)
        result = window_sums_init(windows, n_windows, ret_budgets, &sums);
    if (result == 0 && events)
        result = budget_fill_events(s, until, &cells, n_windows ? windows[0] : (struct windows){0},
                                    ret_awaited);
    if (result == 0) {
        budget_settle(&cells, cells.n);
        result = cells.error;
    }
    if (result == 0)
        window_sums_finish(&sums);
    window_sums_release(&sums);
    cells_release(&cells);
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
