/* SPDX-License-Identifier: MIT */
#include "analysis/facts/series/rate.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/facts/series/stats.h"
#include "analysis/facts/series/times.h"

int rate_init(struct rate *rate, size_t n, double scale) {
    size_t room = n ? n : 1;
    struct rate new = {.n = n,
                       .t_ns = calloc(room, sizeof(int64_t)),
                       .dt_ns = calloc(room, sizeof(int64_t)),
                       .amount = calloc(room, sizeof(double)),
                       .base = calloc(room, sizeof(double)),
                       .scale = scale};
    if (!new.t_ns || !new.dt_ns || !new.amount || !new.base) {
        rate_release(&new);
        return -ENOMEM;
    }
    *rate = new;
    return 0;
}

int rate_cut(struct rate *rate, int64_t t_ns) {
    size_t at = rate_find(rate, t_ns);
    struct rate cut;
    if (at >= rate->n || rate->t_ns[at] - rate->dt_ns[at] >= t_ns)
        return 0;
    if (rate_init(&cut, rate->n + 1, rate->scale) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < rate->n; i++) {
        cut.t_ns[i + (i >= at)] = rate->t_ns[i];
        cut.dt_ns[i + (i >= at)] = rate->dt_ns[i];
    }
    cut.t_ns[at] = t_ns;
    cut.dt_ns[at] = t_ns - (rate->t_ns[at] - rate->dt_ns[at]);
    cut.dt_ns[at + 1] = rate->t_ns[at] - t_ns;
    rate_release(rate);
    *rate = cut;
    return 0;
}

void rate_release(struct rate *rate) {
    free(rate->t_ns);
    free(rate->dt_ns);
    free(rate->amount);
    free(rate->base);
    *rate = (struct rate){0};
}

double rate_value(const struct rate *rate, size_t i) {
    return rate->base[i] > 0 ? rate->scale * rate->amount[i] / rate->base[i] : NAN;
}

size_t rate_find(const struct rate *rate, int64_t t_ns) {
    return times_until(rate->t_ns, sizeof *rate->t_ns, rate->n, t_ns);
}

/* Iterates over the cells that overlap the windows; part: the share of the cell inside. */
struct cell_cursor {
    const struct rate *rate;
    struct windows windows;
    size_t window, cell;
    bool inside;
    double part;
};

static struct cell_cursor cells_begin(const struct rate *rate, struct windows windows) {
    return (struct cell_cursor){.rate = rate, .windows = windows};
}

static double part_inside(const struct rate *rate, size_t i, struct window window) {
    int64_t begin = rate->t_ns[i] - rate->dt_ns[i], end = rate->t_ns[i];
    begin = begin > window.begin_ns ? begin : window.begin_ns;
    end = end < window.end_ns ? end : window.end_ns;
    return end > begin ? (double)(end - begin) / (double)rate->dt_ns[i] : 0;
}

static bool cells_next(struct cell_cursor *walk) {
    for (; walk->window < walk->windows.n; walk->window++, walk->inside = false) {
        struct window window = walk->windows.items[walk->window];
        walk->cell = walk->inside ? walk->cell + 1 : rate_find(walk->rate, window.begin_ns);
        walk->inside = true;
        for (; walk->cell < walk->rate->n; walk->cell++) {
            if (walk->rate->t_ns[walk->cell] - walk->rate->dt_ns[walk->cell] >= window.end_ns)
                break;
            walk->part = part_inside(walk->rate, walk->cell, window);
            if (walk->part > 0 && walk->rate->base[walk->cell] > 0)
                return true;
        }
    }
    return false;
}

double rate_mean(const struct rate *rate, struct windows windows) {
    double amount = 0, base = 0;
    for (struct cell_cursor w = cells_begin(rate, windows); cells_next(&w);) {
        amount += w.part * rate->amount[w.cell];
        base += w.part * rate->base[w.cell];
    }
    return base > 0 ? rate->scale * amount / base : NAN;
}

double rate_mean_between(const struct rate *rate, int64_t begin_ns, int64_t end_ns) {
    struct window window = {begin_ns, end_ns};
    return rate_mean(rate, (struct windows){&window, 1});
}

double rate_amount(const struct rate *rate, struct windows windows) {
    double amount = 0;
    for (struct cell_cursor w = cells_begin(rate, windows); cells_next(&w);)
        amount += w.part * rate->amount[w.cell];
    return amount;
}

int64_t rate_covered(const struct rate *rate, struct windows windows) {
    double covered = 0;
    for (struct cell_cursor w = cells_begin(rate, windows); cells_next(&w);)
        covered += w.part * (double)rate->dt_ns[w.cell];
    return (int64_t)(covered + 0.5);
}

/* Collects the cells that overlap the windows, each with its time inside. The caller owns
 * *ret_items; NULL without memory.
 */
static size_t collect_cells(const struct rate *rate, struct windows windows,
                            struct weighted **ret_items) {
    size_t n = 0, room = rate->n + 2 * windows.n + 1;
    struct weighted *items = calloc(room, sizeof *items);
    for (struct cell_cursor w = cells_begin(rate, windows); items && n < room && cells_next(&w);)
        items[n++] =
            (struct weighted){rate_value(rate, w.cell), w.part * (double)rate->dt_ns[w.cell]};
    *ret_items = items;
    return n;
}

double rate_quantile(const struct rate *rate, struct windows windows, double q) {
    struct weighted *items;
    size_t n = collect_cells(rate, windows, &items);
    double value = items ? stats_weighted_quantile(items, n, q) : NAN;
    free(items);
    return value;
}

double rate_peak(const struct rate *rate, struct windows windows) {
    double peak = -INFINITY;
    for (struct cell_cursor w = cells_begin(rate, windows); cells_next(&w);)
        if (w.part >= 0.5 && rate_value(rate, w.cell) > peak)
            peak = rate_value(rate, w.cell);
    return isinf(peak) ? rate_mean(rate, windows) : peak;
}

double rate_ceiling(const struct rate *rate, struct windows windows, int64_t held_ns) {
    struct weighted *items;
    size_t n = collect_cells(rate, windows, &items);
    double all = 0, busy = 0, peak = -INFINITY, ceiling = NAN;
    for (size_t i = 0; i < n; i++) {
        all += items[i].weight;
        peak = fmax(peak, items[i].value);
    }
    for (size_t i = 0; i < n; i++)
        busy += items[i].value >= peak / 2 ? items[i].weight : 0;
    double held = fmax((double)held_ns, 0.02 * busy);
    if (n && all >= held)
        ceiling = stats_weighted_quantile(items, n, 1 - (held - 1) / all);
    free(items);
    return ceiling;
}

double rate_amount_share_above(const struct rate *rate, struct windows windows, double low) {
    double above = 0, all = 0;
    for (struct cell_cursor w = cells_begin(rate, windows); cells_next(&w);) {
        double amount = w.part * rate->amount[w.cell];
        all += amount;
        above += rate_value(rate, w.cell) >= low ? amount : 0;
    }
    return all > 0 ? above / all : NAN;
}
