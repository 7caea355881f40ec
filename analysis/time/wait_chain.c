/* SPDX-License-Identifier: MIT */
#include "analysis/time/wait_chain_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/times.h"
#include "analysis/number.h"

#define CELLS_MAX 400 /* cells of equal length; windows that begin and end add more */

/* ---- cells ---- */

static size_t add_window_times(struct windows windows, int64_t *times, size_t n) {
    for (size_t i = 0; i < windows.n; i++) {
        times[n++] = windows.items[i].begin_ns;
        times[n++] = windows.items[i].end_ns;
    }
    return n;
}

static int make_chain_cells(const struct run_model *model, const struct critical_path *path,
                            struct wait_chain *chain) {
    int64_t duration = model->recording->duration_ns;
    int64_t step = duration / CELLS_MAX > model->recording->period_ns ? duration / CELLS_MAX
                                                                      : model->recording->period_ns;
    size_t room = CELLS_MAX + 2 + 2 * path->n_blocks, n = 0;
    for (size_t g = 0; g < model->n_groups; g++)
        room += 2 * phase_windows(&model->groups[g]).n;
    int64_t *times = calloc(room, sizeof *times);
    chain->cells = calloc(room, sizeof *chain->cells);
    if (!times || !chain->cells) {
        free(times);
        return -ENOMEM;
    }
    for (int64_t t = 0; step > 0 && t < duration && n <= CELLS_MAX; t += step)
        times[n++] = t;
    n = add_window_times((struct windows){path->block_windows, path->n_blocks}, times, n);
    for (size_t g = 0; g < model->n_groups; g++)
        n = add_window_times(phase_windows(&model->groups[g]), times, n);
    qsort(times, n, sizeof *times, times_compare);
    for (size_t i = 0; i + 1 < n; i++)
        if (times[i + 1] > times[i])
            chain->cells[chain->n_cells++] = (struct window){times[i], times[i + 1]};
    free(times);
    return 0;
}

int wait_chain_new(const struct run_model *model, const struct critical_path *path,
                   struct wait_chain **ret_chain) {
    *ret_chain = NULL;
    if (!model->recording->tables[RECORDING_WAIT].n || model->recording->calls.n)
        return 0;
    struct wait_chain *chain = calloc(1, sizeof *chain);
    if (!chain)
        return -ENOMEM;
    chain->model = model;
    int result = make_chain_cells(model, path, chain);
    if (result < 0) {
        wait_chain_free(chain);
        return result;
    }
    *ret_chain = chain;
    return 0;
}

void wait_chain_free(struct wait_chain *chain) {
    for (size_t i = 0; chain && i < chain->n; i++) {
        process_waits_release(&chain->members[i].waits);
        wait_peers_release(&chain->times[i].peers);
        free(chain->times[i].cells);
    }
    if (chain)
        free(chain->cells);
    free(chain);
}

int wait_chain_add(struct wait_chain *chain, const struct budget_subject *subject, int host,
                   int64_t pid) {
    chain->full |= chain->n == MEMBERS_MAX;
    if (chain->full)
        return 0;
    size_t at = chain->n++;
    struct wait_member *member = &chain->members[at];
    struct windows *windows = calloc(chain->n_cells + 1, sizeof *windows);
    chain->times[at].cells = calloc(chain->n_cells + 1, sizeof *chain->times[at].cells);
    *member = (struct wait_member){.host = host, .pid = pid};
    for (size_t c = 0; windows && c < chain->n_cells; c++)
        windows[c] = (struct windows){&chain->cells[c], 1};
    int result = windows && chain->times[at].cells
                     ? process_waits_find(chain->model->recording, host, pid, &member->waits)
                     : -ENOMEM;
    if (result == 0)
        result = budget_make(subject, windows, chain->n_cells, chain->times[at].cells, NULL);
    free(windows);
    return result;
}

/* ---- the path ---- */

static bool holds(struct windows windows, const struct window *cell) {
    return windows_hold(windows, cell->begin_ns + (cell->end_ns - cell->begin_ns) / 2);
}

/* Adds the sleep of processes while others are on the path: they wait for no one and hold up no
 * one.
 */
static void add_asleep(const struct wait_walk *w, double *asleep_s) {
    const struct wait_chain *chain = w->chain;
    double on_path[MEMBERS_MAX] = {0}, all = 0;
    for (size_t i = 0; i < chain->n * BUDGET_TERMS; i++) {
        on_path[i / BUDGET_TERMS] += w->seconds[i];
        all += w->seconds[i];
    }
    for (size_t k = 0; k < chain->n; k++)
        if (on_path[k] >= number_of(chain->model, WAITS_ON_PATH) * all)
            asleep_s[k] += budget_sum(&chain->times[k].cells[w->cell], 1u << BUDGET_IDLE);
}

static void add_to(const struct wait_walk *w, struct critical_part *part) {
    const struct wait_chain *chain = w->chain;
    size_t hosts = chain->model->n_hosts + 1;
    for (size_t i = 0; i < chain->n * BUDGET_TERMS; i++) {
        size_t host = (size_t)chain->members[i / BUDGET_TERMS].host;
        part->seconds[host * BUDGET_TERMS + i % BUDGET_TERMS] += w->seconds[i];
        if (part->rank_seconds)
            part->rank_seconds[i] += w->seconds[i];
        part->total_s += w->seconds[i];
    }
    if (part->rank_asleep_s)
        add_asleep(w, part->rank_asleep_s);
    for (size_t i = 0; part->transfers && i < hosts * hosts; i++)
        part->transfers[i] += w->moved[i];
}

static void add_waits(const struct wait_walk *w, double *waited) {
    size_t n = w->chain->n;
    for (size_t i = 0; i < n * n * WAIT_KIND_COUNT_; i++) {
        size_t kind = i / (n * n), who = i / n % n, whom = i % n;
        waited[i] += w->waits->kinds[kind][who][whom] * w->length_s;
    }
}

static void charge_cell(const struct wait_walk *w, struct critical_path *path, double *waited) {
    const struct run_model *model = w->chain->model;
    const struct window *cell = &w->chain->cells[w->cell];
    for (size_t g = 0; g < path->n_groups; g++)
        if (holds(phase_windows(&model->groups[g]), cell))
            add_to(w, &path->groups[g]);
    for (size_t b = 0; b < path->n_blocks; b++)
        if (holds((struct windows){&path->block_windows[b], 1}, cell))
            add_to(w, &path->blocks[b]);
    if (holds(phase_windows(&model->groups[model->main_group]), cell))
        add_waits(w, waited);
}

static int walk_cells(const struct wait_chain *chain, struct critical_path *path, double *waited) {
    size_t hosts = chain->model->n_hosts + 1, n_seconds = chain->n * BUDGET_TERMS + 1;
    struct cell_waits *waits = malloc(sizeof *waits);
    double *seconds = malloc(n_seconds * sizeof *seconds);
    double *moved = malloc(hosts * hosts * sizeof *moved);
    for (size_t c = 0; waits && seconds && moved && c < chain->n_cells; c++) {
        double length_s = (double)(chain->cells[c].end_ns - chain->cells[c].begin_ns) / 1e9;
        struct wait_walk w = {chain, waits, c, length_s, seconds, moved};
        memset(waits, 0, sizeof *waits);
        memset(seconds, 0, n_seconds * sizeof *seconds);
        memset(moved, 0, hosts * hosts * sizeof *moved);
        for (size_t k = 0; k < chain->n; k++)
            wait_cell_find(chain, k, c, waits);
        wait_walk_cell(&w);
        charge_cell(&w, path, waited);
    }
    bool ok = waits && seconds && moved;
    free(waits);
    free(seconds);
    free(moved);
    return ok ? 0 : -ENOMEM;
}

/* The share of the processes' time that wait clocks cover. */
static double clocked(const struct wait_chain *chain) {
    double all = 0, told = 0;
    for (size_t k = 0; k < chain->n; k++)
        for (size_t c = 0; c < chain->n_cells; c++) {
            const struct budget *b = &chain->times[k].cells[c];
            all += b->wall_s;
            told += budget_is_told(b) ? b->wall_s : 0;
        }
    return all > 0 ? told / all : 0;
}

static int keep_waits(const struct wait_chain *chain, const double *waited,
                      struct rank_budgets *ranks) {
    size_t n = chain->n;
    ranks->waits = calloc(n * n * WAIT_KIND_COUNT_ + 1, sizeof *ranks->waits);
    if (!ranks->waits)
        return -ENOMEM;
    for (size_t i = 0; i < n * n * WAIT_KIND_COUNT_; i++)
        if (waited[i] > 0)
            ranks->waits[ranks->n_waits++] =
                (struct process_wait){i / n % n, i % n, (enum wait_kind)(i / (n * n)), waited[i]};
    return 0;
}

int wait_chain_walk(struct wait_chain *chain, struct critical_path *path,
                    struct rank_budgets *ranks) {
    struct wait_ends *ends = NULL;
    if (!chain->n || chain->full || clocked(chain) < number_of(chain->model, CLOCKED_MOST))
        return 0;
    double *waited = calloc(chain->n * chain->n * WAIT_KIND_COUNT_, sizeof *waited);
    chain->n_begin = ranks->n;
    int result = waited ? wait_ends_make(chain->model->recording, &ends) : -ENOMEM;
    for (size_t k = 0; result == 0 && k < chain->n; k++)
        result = wait_peers_find(ends, chain->members, chain->n, k, &chain->times[k].peers);
    if (result == 0)
        result = walk_cells(chain, path, waited);
    if (result == 0)
        result = keep_waits(chain, waited, ranks);
    if (result == 0)
        path->source = CRITICAL_FROM_WAITS;
    wait_ends_free(ends);
    free(waited);
    return result;
}
