/* SPDX-License-Identifier: MIT */
/*
 * The last seconds of every host as a recording, so that metrics mean the same as in a report. Load
 * is sampled every five seconds; series without rows for LIVE_WINDOW_NS are forgotten.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/series_window.h"
#include "common/error.h"
#include "reports/live/live_private.h"

#define ROWS_MISSED 3 /* intervals without a row: then an instance is gone */

const enum recording_table live_window_tables[LIVE_TABLES] = {
    RECORDING_CPU,  RECORDING_MEMORY,  RECORDING_DISK,       RECORDING_NET,
    RECORDING_PSI,  RECORDING_PROCESS, RECORDING_CONNECTION, RECORDING_LOAD,
    RECORDING_FLOW, RECORDING_GPU,     RECORDING_GPU_DEVICE};

void live_window_init(struct live_window *window) {
    *window = (struct live_window){0};
    recording_init(&window->recording);
    for (size_t i = 0; i < LIVE_TABLES; i++) {
        const struct recording_columns *columns = &recording_columns[live_window_tables[i]];
        window->tables[i] = (struct store_tail_table){columns->table, columns->columns, columns->n};
    }
}

void live_window_release(struct live_window *window) {
    recording_release(&window->recording);
    free(window->last_ns);
    *window = (struct live_window){0};
}

/* ---- taking rows ---- */

struct taking {
    struct live_window *window;
    struct store_tail *tail;
    size_t rows;
};

static int host_index(const struct store_tail *tail, int64_t id) {
    const struct store_tail_host *hosts;
    size_t n = store_tail_hosts(tail, &hosts);
    for (size_t i = 0; i < n; i++)
        if (hosts[i].id == id)
            return (int)i;
    return -1;
}

static int take_row(void *ctx, size_t table, const struct store_row_read *row) {
    struct taking *taking = ctx;
    struct live_window *window = taking->window;
    struct series_set *set = &window->recording.tables[live_window_tables[table]];
    int host = host_index(taking->tail, row->host);
    char name[INSTANCE_MAX + 1];
    size_t at;
    if (host < 0)
        return 0;
    taking->rows++;
    bool found = series_set_find(set, host, row->instance, window->guess, &at);
    window->guess = at + 1;
    if (found)
        return series_set_append_at(set, at, host, row->instance, "", row->t_ns, row->interval_ns,
                                    row->values);
    int result = store_tail_name(taking->tail, row->host, row->instance, name);
    if (result < 0)
        return result == -ENOENT ? 0 : result; /* otherwise the file is damaged */
    return series_set_insert(set, at, host, row->instance, name, row->t_ns, row->interval_ns,
                             row->values);
}

static int note_hosts(struct live_window *window, const struct store_tail *tail) {
    const struct store_tail_host *hosts;
    size_t n = store_tail_hosts(tail, &hosts);
    struct recording *recording = &window->recording;
    char **names = realloc(recording->hosts, (n + 1) * sizeof *names);
    if (names)
        recording->hosts = names;
    int64_t *last = realloc(window->last_ns, (n + 1) * sizeof *last);
    if (last)
        window->last_ns = last;
    if (!names || !last)
        return -ENOMEM;
    for (; recording->n_hosts < n; recording->n_hosts++)
        if (!(names[recording->n_hosts] = strdup(hosts[recording->n_hosts].name)))
            return -ENOMEM;
    for (size_t h = 0; h < n; h++)
        last[h] = time_is_sane(hosts[h].last_ns) ? hosts[h].last_ns : VALUE_ABSENT;
    return 0;
}

static void forget(struct live_window *window) {
    for (size_t h = 0; h < window->recording.n_hosts; h++)
        for (size_t t = 0; t < LIVE_TABLES && window->last_ns[h] != VALUE_ABSENT; t++)
            if (live_window_tables[t] != RECORDING_GPU_DEVICE) /* told once */
                series_set_forget(&window->recording.tables[live_window_tables[t]], (int)h,
                                  window->last_ns[h] - LIVE_WINDOW_NS);
}

int live_window_take(struct live_window *window, struct store_tail *tail, size_t *ret_rows) {
    struct taking taking = {.window = window, .tail = tail};
    int result = store_tail_next(tail, take_row, &taking);
    int noted = note_hosts(window, tail);
    forget(window);
    *ret_rows = taking.rows;
    return result < 0 ? result : noted;
}

/* ---- now ---- */

struct window live_window_now(const struct live_window *window, int host) {
    int64_t last = window->last_ns[host];
    return last == VALUE_ABSENT ? (struct window){0, 0} : (struct window){last - LIVE_NOW_NS, last};
}

bool live_window_now_of(const struct live_window *window, const struct series *series,
                        struct window *ret_now) {
    int64_t t = series->t_ns[series->n - 1], interval = series->interval_ns[series->n - 1];
    if (interval == VALUE_ABSENT || interval < LIVE_NOW_NS)
        interval = LIVE_NOW_NS;
    *ret_now = (struct window){t - interval, t};
    return window->last_ns[series->host] != VALUE_ABSENT &&
           (window->last_ns[series->host] - t) / ROWS_MISSED < interval;
}

double live_window_growth(const struct series_set *set, const struct series *series,
                          uint64_t columns, struct window now) {
    double sum = NAN;
    for (size_t c = 0; c < set->n_columns; c++) {
        int64_t covered = 0;
        if (!(columns >> c & 1))
            continue;
        double growth = series_growth(set, series, c, (struct windows){&now, 1}, &covered);
        if (covered > 0)
            sum = (isnan(sum) ? 0 : sum) + growth / ((double)covered / 1e9);
    }
    return sum;
}
