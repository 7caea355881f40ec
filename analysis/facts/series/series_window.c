/* SPDX-License-Identifier: MIT */
#include "analysis/facts/series/series_window.h"

#include <stdlib.h>
#include <string.h>

static int order(const struct series *series, int host, int64_t instance) {
    if (series->host != host)
        return series->host < host ? -1 : 1;
    return (series->instance > instance) - (series->instance < instance);
}

bool series_set_find(const struct series_set *set, int host, int64_t instance, size_t guess,
                     size_t *ret_at) {
    size_t low = 0, high = set->n;
    if (guess < set->n && order(&set->items[guess], host, instance) == 0) {
        *ret_at = guess;
        return true;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order(&set->items[middle], host, instance) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_at = low;
    return low < set->n && order(&set->items[low], host, instance) == 0;
}

int series_set_insert(struct series_set *set, size_t at, int host, int64_t instance,
                      const char *name, int64_t t_ns, int64_t interval_ns, const int64_t *values) {
    size_t n = set->n;
    int result = series_set_append_at(set, n, host, instance, name, t_ns, interval_ns, values);
    if (set->n == n)
        return result;
    struct series added = set->items[n];
    if (!added.name) { /* no memory */
        set->n = n;
        return result;
    }
    memmove(set->items + at + 1, set->items + at, (n - at) * sizeof *set->items);
    set->items[at] = added;
    return result;
}

static void forget_rows(const struct series_set *set, struct series *series, int64_t until_ns) {
    size_t gone = 0;
    while (gone < series->n && series->t_ns[gone] <= until_ns)
        gone++;
    if (!gone)
        return;
    series->n -= gone;
    memmove(series->t_ns, series->t_ns + gone, series->n * sizeof *series->t_ns);
    memmove(series->interval_ns, series->interval_ns + gone,
            series->n * sizeof *series->interval_ns);
    memmove(series->values, series->values + gone * set->n_columns,
            series->n * set->n_columns * sizeof *series->values);
}

void series_set_forget(struct series_set *set, int host, int64_t until_ns) {
    size_t kept = 0;
    for (size_t i = 0; i < set->n; i++) {
        struct series *series = &set->items[i];
        if (host < 0 || series->host == host)
            forget_rows(set, series, until_ns);
        if (series->n) {
            set->items[kept++] = *series;
            continue;
        }
        free(series->name);
        free(series->t_ns);
        free(series->interval_ns);
        free(series->values);
    }
    set->n = kept;
}
