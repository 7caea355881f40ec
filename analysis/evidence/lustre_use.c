/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/lustre_use.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/stats.h"

static struct lustre_use *find_use(struct lustre_use *items, size_t *n, struct span name) {
    for (size_t i = 0; i < *n; i++)
        if (span_equal(name, items[i].name))
            return &items[i];
    struct lustre_use *item = &items[(*n)++];
    *item = (struct lustre_use){.calls_s = NAN, .requests_s = NAN, .waited_s = NAN};
    text_sanitize(item->name, sizeof item->name, name.data, name.size);
    return item;
}

/* Growth of a counter; NAN if it was never recorded. */
static double known_growth(const struct series_set *set, const struct series *series, size_t column,
                           struct windows windows) {
    return series_last(set, series, column) == VALUE_ABSENT
               ? NAN
               : series_growth(set, series, column, windows, NULL);
}

/* a + b, where NAN is not known. */
static double sum_known(double a, double b) {
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

static void add_calls(const struct series_set *set, const struct series *series,
                      struct windows windows, struct lustre_use *item) {
    double bytes = stats_or_zero(known_growth(set, series, LUSTRE_BYTES, windows));
    double seconds = known_growth(set, series, LUSTRE_TIME, windows) / 1e9;
    item->calls += series_growth(set, series, LUSTRE_OPERATIONS, windows, NULL);
    item->calls_s = sum_known(item->calls_s, seconds);
    if (span_equal(series->key.operation, "read"))
        item->read_bytes += bytes;
    if (span_equal(series->key.operation, "write"))
        item->write_bytes += bytes;
}

/* "scratch-OST0000" is a target of "scratch". */
static bool is_target_of(const char *target, const char *name) {
    const char *end = strrchr(target, '-');
    size_t size = strlen(name);
    return end && (size_t)(end - target) == size && memcmp(target, name, size) == 0;
}

static void add_target(const struct series_set *set, const struct series *series,
                       struct windows windows, struct lustre_use *item) {
    double seconds = known_growth(set, series, LUSTRE_TARGET_WAIT, windows) / 1e9;
    item->requests += stats_or_zero(known_growth(set, series, LUSTRE_TARGET_REQUESTS, windows));
    item->requests_s = sum_known(item->requests_s, seconds);
    item->lost += series_ever(set, series, LUSTRE_TARGET_CONNECTED, 0);
    if (seconds > item->slowest_s) {
        item->slowest = series;
        item->slowest_s = seconds;
    }
}

static void add_targets(const struct run_model *model, int host, struct windows windows,
                        struct lustre_use *item) {
    const struct series_set *set = &model->recording->tables[RECORDING_LUSTRE_TARGET];
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host && is_target_of(set->items[s].name, item->name))
            add_target(set, &set->items[s], windows, item);
}

/* CPU time of the kernel on the host, in s. */
static double kernel_s(const struct run_model *model, int host, struct windows windows) {
    const struct model_host *h = &model->hosts[host];
    return rate_mean(&h->metrics[METRIC_CPU_SYSTEM], windows) / 100 * h->n_cpus *
           (double)windows_length(windows) / 1e9;
}

static int compare_uses(const void *a, const void *b) {
    const struct lustre_use *x = a, *y = b;
    double u = stats_or_zero(x->waited_s), v = stats_or_zero(y->waited_s);
    if (u != v)
        return u > v ? -1 : 1;
    return strcmp(x->name, y->name);
}

int lustre_use_make(const struct run_model *model, int host, struct windows windows,
                    struct lustre_use **ret_items, size_t *ret_n) {
    const struct series_set *set = &model->recording->tables[RECORDING_LUSTRE];
    struct lustre_use *items = calloc(set->n + 1, sizeof *items);
    double computed_s = set->n ? kernel_s(model, host, windows) : 0;
    size_t n = 0, kept = 0;
    if (!items)
        return -ENOMEM;
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host && set->items[s].key.form == KEY_OPERATION)
            add_calls(set, &set->items[s], windows, find_use(items, &n, set->items[s].key.export));
    for (size_t i = 0; i < n; i++) {
        struct lustre_use *item = &items[i];
        add_targets(model, host, windows, item);
        item->waited_s = isnan(item->requests_s) ? fdim(item->calls_s, computed_s)
                                                 : fmin(item->calls_s, item->requests_s);
        if (item->calls > 0 || item->requests > 0)
            items[kept++] = *item;
    }
    qsort(items, kept, sizeof *items, compare_uses);
    *ret_items = items;
    *ret_n = kept;
    return 0;
}

bool lustre_use_most(const struct run_model *model, size_t group, int host,
                     struct lustre_use *ret_item) {
    struct lustre_use *items;
    size_t n;
    if (lustre_use_make(model, host, phase_windows(&model->groups[group]), &items, &n) < 0)
        return false;
    bool found = n > 0 && items[0].waited_s > 0; /* false for NAN */
    if (found)
        *ret_item = items[0];
    free(items);
    return found;
}
