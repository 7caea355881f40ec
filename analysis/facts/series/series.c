/* SPDX-License-Identifier: MIT */
#include "analysis/facts/series/series.h"
#include "analysis/facts/series/times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int64_t windows_length(struct windows windows) {
    int64_t length = 0;
    for (size_t i = 0; i < windows.n; i++)
        length += windows.items[i].end_ns - windows.items[i].begin_ns;
    return length;
}

bool windows_hold(struct windows windows, int64_t t_ns) {
    for (size_t w = 0; w < windows.n; w++)
        if (t_ns >= windows.items[w].begin_ns && t_ns < windows.items[w].end_ns)
            return true;
    return false;
}

size_t windows_first(struct windows windows, int64_t t_ns) {
    return TIMES_UNTIL(windows.items, windows.n, end_ns, t_ns);
}

double windows_common_ns(struct windows windows, int64_t begin_ns, int64_t end_ns) {
    double sum = 0;
    for (size_t i = windows_first(windows, begin_ns);
         i < windows.n && windows.items[i].begin_ns < end_ns; i++) {
        const struct window *w = &windows.items[i];
        int64_t from = begin_ns > w->begin_ns ? begin_ns : w->begin_ns;
        int64_t to = end_ns < w->end_ns ? end_ns : w->end_ns;
        sum += to > from ? (double)(to - from) : 0;
    }
    return sum;
}

bool series_row_ends_in(const struct series *series, size_t row, struct windows windows) {
    for (size_t w = 0; w < windows.n; w++)
        if (series->t_ns[row] > windows.items[w].begin_ns &&
            series->t_ns[row] <= windows.items[w].end_ns)
            return true;
    return false;
}

/* Makes room for n series. */
static int make_room(struct series_set *set, size_t n) {
    size_t capacity = set->capacity ? set->capacity : 16;
    if (n <= set->capacity)
        return 0;
    while (capacity < n)
        capacity *= 2;
    struct series *items = realloc(set->items, capacity * sizeof *items);
    if (!items)
        return -ENOMEM;
    set->items = items;
    set->capacity = capacity;
    return 0;
}

static int begin_series(const struct series_set *set, struct series *series, int host,
                        int64_t instance, const char *name) {
    char *copy = strdup(name);
    if (!copy)
        return -ENOMEM;
    *series = (struct series){
        .host = host, .instance = instance, .name = copy, .key = key_read(set->keys, copy)};
    return 0;
}

static int grow_series(struct series *series, size_t n_columns) {
    size_t capacity = series->capacity ? 2 * series->capacity : 64;
    int64_t *t = realloc(series->t_ns, capacity * sizeof *t);
    if (t)
        series->t_ns = t;
    int64_t *interval = realloc(series->interval_ns, capacity * sizeof *interval);
    if (interval)
        series->interval_ns = interval;
    int64_t *values = realloc(series->values, capacity * n_columns * sizeof *values);
    if (values)
        series->values = values;
    if (!t || !interval || !values)
        return -ENOMEM;
    series->capacity = capacity;
    return 0;
}

/* ---- joining rows ---- */

static int64_t step_of(const struct series_set *set, int64_t t_ns) {
    int64_t before = t_ns - 1;
    return before / set->step_ns - (before % set->step_ns < 0);
}

/* Clocks are read and rounded, so consecutive rows may miss each other by this much. */
static bool follows(int64_t begin_ns, int64_t end_ns, int64_t interval_ns) {
    return llabs(begin_ns - end_ns) <= interval_ns / 100 + 1000;
}

static bool can_join(const struct series_set *set, const struct series *to, int64_t t_ns,
                     int64_t interval_ns, const int64_t *values) {
    if (!set->step_ns || !to->n || interval_ns <= 0)
        return false;
    size_t last = to->n - 1;
    const int64_t *was = to->values + last * set->n_columns;
    if (to->interval_ns[last] == VALUE_ABSENT ||
        step_of(set, to->t_ns[last]) != step_of(set, t_ns) ||
        !follows(t_ns - interval_ns, to->t_ns[last], interval_ns))
        return false;
    for (size_t c = 0; c < set->n_columns; c++)
        if (!(set->levels >> c & 1) &&
            (was[c] == VALUE_ABSENT || values[c] == VALUE_ABSENT || was[c] > INT64_MAX / 2 ||
             values[c] > INT64_MAX / 2) &&
            !(was[c] == VALUE_ABSENT && values[c] == VALUE_ABSENT))
            return false;
    return true;
}

static void join(const struct series_set *set, struct series *to, int64_t t_ns,
                 const int64_t *values) {
    size_t last = to->n - 1;
    int64_t *was = to->values + last * set->n_columns;
    to->interval_ns[last] += t_ns - to->t_ns[last];
    to->t_ns[last] = t_ns;
    for (size_t c = 0; c < set->n_columns; c++)
        if (set->levels >> c & 1)
            was[c] = values[c] == VALUE_ABSENT ? was[c] : values[c];
        else
            was[c] = was[c] == VALUE_ABSENT ? VALUE_ABSENT : was[c] + values[c];
}

static int append_row(const struct series_set *set, struct series *series, int64_t t_ns,
                      int64_t interval_ns, const int64_t *values) {
    if (series->n && series->t_ns[series->n - 1] >= t_ns)
        return 0;
    if (can_join(set, series, t_ns, interval_ns, values)) {
        join(set, series, t_ns, values);
        return 0;
    }
    if (series->n == series->capacity && grow_series(series, set->n_columns) < 0)
        return -ENOMEM;
    series->t_ns[series->n] = t_ns;
    series->interval_ns[series->n] = interval_ns > 0 ? interval_ns : VALUE_ABSENT;
    memcpy(series->values + series->n * set->n_columns, values, set->n_columns * sizeof *values);
    series->n++;
    return 0;
}

static bool is_sane(int64_t t_ns, int64_t interval_ns) {
    return time_is_sane(t_ns) && (interval_ns == VALUE_ABSENT || time_is_sane(interval_ns));
}

int series_set_append(struct series_set *set, int host, int64_t instance, const char *name,
                      int64_t t_ns, int64_t interval_ns, const int64_t *values) {
    const struct series *last = set->n ? &set->items[set->n - 1] : NULL;
    bool is_new = !last || last->host != host || last->instance != instance;
    return series_set_append_at(set, is_new ? set->n : set->n - 1, host, instance, name, t_ns,
                                interval_ns, values);
}

int series_set_append_at(struct series_set *set, size_t at, int host, int64_t instance,
                         const char *name, int64_t t_ns, int64_t interval_ns,
                         const int64_t *values) {
    if (!is_sane(t_ns, interval_ns))
        return 0;
    if (make_room(set, at + 1) < 0)
        return -ENOMEM;
    for (; set->n <= at; set->n++)
        set->items[set->n] = (struct series){0};
    struct series *series = &set->items[at];
    if (!series->name && begin_series(set, series, host, instance, name) < 0)
        return -ENOMEM;
    return append_row(set, series, t_ns, interval_ns, values);
}

struct series_set series_set_like(const struct series_set *set) {
    return (struct series_set){.n_columns = set->n_columns,
                               .levels = set->levels,
                               .keys = set->keys,
                               .step_ns = set->step_ns};
}

void series_set_squeeze(struct series_set *set) {
    size_t n = 0;
    for (size_t i = 0; i < set->n; i++)
        if (set->items[i].name)
            set->items[n++] = set->items[i];
    set->n = n;
}

void series_set_release(struct series_set *set) {
    for (size_t i = 0; i < set->n; i++) {
        free(set->items[i].name);
        free(set->items[i].t_ns);
        free(set->items[i].interval_ns);
        free(set->items[i].values);
        free(set->items[i].columns);
    }
    free(set->items);
    *set = series_set_like(set);
}

struct series_range series_set_of_host(const struct series_set *set, int host) {
    struct series_range range = {0, 0};
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host)
            range = (struct series_range){range.end ? range.begin : s, s + 1};
    return range;
}

const struct series *series_named(const struct series_set *set, int host, const char *name) {
    for (size_t s = 0; s < set->n; s++)
        if ((host < 0 || set->items[s].host == host) && strcmp(set->items[s].name, name) == 0)
            return &set->items[s];
    return NULL;
}

const struct series *series_of_pid(const struct series_set *set, int host, size_t column,
                                   int64_t pid) {
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host && series_last(set, &set->items[s], column) == pid)
            return &set->items[s];
    return NULL;
}

static int64_t overlap(int64_t a, int64_t b, struct window window) {
    int64_t begin = a > window.begin_ns ? a : window.begin_ns;
    int64_t end = b < window.end_ns ? b : window.end_ns;
    return end > begin ? end - begin : 0;
}

#define NEAR 4 /* rows */

/* The first row that ends after t. Most series have a steady period, which tells about where. */
static size_t first_after(const struct series *series, int64_t t) {
    const int64_t *times = series->t_ns;
    size_t n = series->n, from = 0, to = n;
    if (n > 4 * NEAR && t > times[0] && t < times[n - 1]) {
        double part = (double)(t - times[0]) / (double)(times[n - 1] - times[0]);
        size_t guess = (size_t)(part * (double)(n - 1));
        if (guess > NEAR && times[guess - NEAR] <= t)
            from = guess - NEAR;
        if (guess + NEAR < n && times[guess + NEAR] > t)
            to = guess + NEAR;
    }
    return from + times_until(times + from, sizeof *times, to - from, t);
}

double series_growth(const struct series_set *set, const struct series *series, size_t column,
                     struct windows windows, int64_t *ret_covered_ns) {
    double growth = 0;
    int64_t covered = 0;
    for (size_t w = 0; w < windows.n; w++)
        for (size_t i = first_after(series, windows.items[w].begin_ns); i < series->n; i++) {
            int64_t value = series_value(set, series, i, column), dt = series->interval_ns[i];
            if (dt == VALUE_ABSENT || value == VALUE_ABSENT)
                continue;
            if (series->t_ns[i] - dt >= windows.items[w].end_ns)
                break;
            int64_t part = overlap(series->t_ns[i] - dt, series->t_ns[i], windows.items[w]);
            growth += (double)value * ((double)part / (double)dt);
            covered += part;
        }
    if (ret_covered_ns)
        *ret_covered_ns = covered;
    return growth;
}

bool series_ever(const struct series_set *set, const struct series *series, size_t column,
                 int64_t value) {
    for (size_t i = 0; i < series->n; i++)
        if (series_value(set, series, i, column) == value)
            return true;
    return false;
}

int64_t series_last(const struct series_set *set, const struct series *series, size_t column) {
    for (size_t i = series->n; i-- > 0;)
        if (series_value(set, series, i, column) != VALUE_ABSENT)
            return series_value(set, series, i, column);
    return VALUE_ABSENT;
}
