/* SPDX-License-Identifier: MIT */
#include "analysis/facts/series/align.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct tick {
    int64_t t_ns, begin_ns;
};

static int compare_ticks(const void *a, const void *b) {
    const struct tick *x = a, *y = b;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static bool matches(const struct series_set *set, const struct series *series, int host,
                    series_filter *filter, const void *ctx) {
    return series->host == host && (!filter || filter(ctx, set, series));
}

/* Cores are sampled together: if two have the same ticks, one set serves both. */
static bool same_ticks(const struct series *a, const struct series *b) {
    return a && a->n == b->n && memcmp(a->t_ns, b->t_ns, a->n * sizeof *a->t_ns) == 0 &&
           memcmp(a->interval_ns, b->interval_ns, a->n * sizeof *a->interval_ns) == 0;
}

static size_t collect_ticks(const struct series_set *set, int host, series_filter *filter,
                            const void *ctx, struct tick *ticks) {
    size_t n = 0;
    const struct series *last = NULL;
    for (size_t s = 0; s < set->n; s++) {
        const struct series *series = &set->items[s];
        if (!matches(set, series, host, filter, ctx) || !series->n || same_ticks(last, series))
            continue;
        last = series;
        for (size_t i = 0; i < series->n; i++, n++)
            if (ticks) {
                int64_t dt = series->interval_ns[i] == VALUE_ABSENT ? 0 : series->interval_ns[i];
                ticks[n] = (struct tick){series->t_ns[i], series->t_ns[i] - dt};
            }
    }
    return n;
}

static bool is_sorted(const struct tick *ticks, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (compare_ticks(&ticks[i - 1], &ticks[i]) > 0)
            return false;
    return true;
}

/* Removes repeated times from sorted ticks; the one with the earliest begin, which comes first,
 * stays.
 */
static size_t unique(struct tick *ticks, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!kept || ticks[i].t_ns != ticks[kept - 1].t_ns)
            ticks[kept++] = ticks[i];
    return kept;
}

int align_grid(const struct series_set *set, int host, series_filter *filter, const void *ctx,
               double scale, struct rate *ret_grid) {
    size_t n = collect_ticks(set, host, filter, ctx, NULL);
    struct tick *ticks = malloc((n + 1) * sizeof *ticks);
    if (!ticks)
        return -ENOMEM;
    collect_ticks(set, host, filter, ctx, ticks);
    if (!is_sorted(ticks, n))
        qsort(ticks, n, sizeof *ticks, compare_ticks);
    n = unique(ticks, n);
    int result = rate_init(ret_grid, n, scale);
    for (size_t i = 0; result == 0 && i < n; i++) {
        ret_grid->t_ns[i] = ticks[i].t_ns;
        ret_grid->dt_ns[i] = ticks[i].t_ns - (i ? ticks[i - 1].t_ns : ticks[i].begin_ns);
    }
    free(ticks);
    return result;
}

/* Spreads value over the cells that (begin, end] overlaps, from cell `first` on. */
static void spread(const struct rate *grid, size_t first, int64_t begin, int64_t end, double value,
                   double *amount, double *covered_ns) {
    for (size_t c = first; c < grid->n && grid->t_ns[c] - grid->dt_ns[c] < end; c++) {
        int64_t from = grid->t_ns[c] - grid->dt_ns[c], to = grid->t_ns[c];
        from = from > begin ? from : begin;
        to = to < end ? to : end;
        if (to <= from)
            continue;
        amount[c] += value * ((double)(to - from) / (double)(end - begin));
        covered_ns[c] += (double)(to - from);
    }
}

/* Like rate_find() for times that mostly increase from call to call: *cell is the last cell. */
static size_t find_from(const struct rate *grid, int64_t t_ns, size_t *cell) {
    if (*cell > 0 && (*cell > grid->n || grid->t_ns[*cell - 1] > t_ns))
        *cell = rate_find(grid, t_ns);
    while (*cell < grid->n && grid->t_ns[*cell] <= t_ns)
        ++*cell;
    return *cell;
}

/* Sums the known columns of the mask; false if none is known, or if not all are known and all must
 * be.
 */
static bool row_sum(const struct series_set *set, const struct series *series, size_t row,
                    uint64_t mask, bool all, double *ret_sum) {
    double sum = 0;
    bool any = false;
    if (set->n_columns < 64)
        mask &= (UINT64_C(1) << set->n_columns) - 1;
    for (; mask; mask &= mask - 1) {
        int64_t value = series_value(set, series, row, (size_t)__builtin_ctzll(mask));
        if (value == VALUE_ABSENT && all)
            return false;
        if (value != VALUE_ABSENT) {
            sum += (double)value;
            any = true;
        }
    }
    *ret_sum = sum;
    return any || all;
}

void align_growth(const struct series_set *set, const struct series *series, uint64_t plus,
                  const struct rate *grid, double *amount, double *covered_ns) {
    for (size_t i = 0, cell = 0; i < series->n; i++) {
        double value;
        int64_t begin, dt = series->interval_ns[i];
        if (dt == VALUE_ABSENT || __builtin_sub_overflow(series->t_ns[i], dt, &begin) ||
            !row_sum(set, series, i, plus, false, &value))
            continue;
        spread(grid, find_from(grid, begin, &cell), begin, series->t_ns[i], value, amount,
               covered_ns);
    }
}

void align_level(const struct series_set *set, const struct series *series, uint64_t plus,
                 uint64_t minus, const struct rate *grid, double *amount, double *covered_ns) {
    double last = 0;
    bool have_last = false;
    for (size_t i = 0; i < series->n; i++) {
        double add, take;
        bool known = row_sum(set, series, i, plus, true, &add) &&
                     row_sum(set, series, i, minus, true, &take);
        if (known) {
            int64_t t = series->t_ns[i];
            size_t cell = rate_find(grid, t - 1);
            int64_t width = cell < grid->n ? grid->dt_ns[cell] : 0; /* it may be later than all
                                                                       cells */
            int64_t begin = have_last ? series->t_ns[i - 1] : t - width;
            double mean = have_last ? (last + add - take) / 2 : add - take;
            spread(grid, rate_find(grid, begin), begin, t, mean * (double)(t - begin), amount,
                   covered_ns);
            last = add - take;
        }
        have_last = known;
    }
}
