/* SPDX-License-Identifier: MIT */
#include "reports/live/live_history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/recording/recording.h"
#include "analysis/facts/series/rate.h"
#include "common/clock.h"
#include "common/error.h"

#define ENTRIES_MAX 65536 /* hosts and GPUs */

static const struct {
    enum metric metric;
    enum live_trace trace;
} traced[] = {
    {METRIC_CPU_IDLE, LIVE_TRACE_CPU},      {METRIC_CPU_IOWAIT, LIVE_TRACE_CPU},
    {METRIC_CPU_CORE_MAX, LIVE_TRACE_CORE}, {METRIC_MEM_USED, LIVE_TRACE_MEMORY},
    {METRIC_DISK_BUSY, LIVE_TRACE_DISK},    {METRIC_NET_RECV, LIVE_TRACE_RECEIVE},
    {METRIC_NET_SEND, LIVE_TRACE_SEND},
};

/* ---- entries ---- */

void live_history_release(struct live_history *history) {
    for (size_t i = 0; i < history->n; i++) {
        free(history->items[i].host);
        free(history->items[i].gpu);
    }
    free(history->items);
    *history = (struct live_history){0};
}

static int grow(struct live_history *history) {
    size_t more = history->capacity ? 2 * history->capacity : 16;
    if (history->n < history->capacity)
        return 0;
    void *grown =
        history->n >= ENTRIES_MAX ? NULL : realloc(history->items, more * sizeof *history->items);
    if (!grown)
        return -ENOMEM;
    history->items = grown;
    history->capacity = more;
    return 0;
}

static bool is_entry_of(const struct live_history_entry *entry, const char *host, const char *gpu) {
    return strcmp(entry->host, host) == 0 && strcmp(entry->gpu, gpu) == 0;
}

int live_history_find(struct live_history *history, const char *host, const char *gpu) {
    size_t at = history->guess;
    if (at >= history->n || !is_entry_of(&history->items[at], host, gpu))
        for (at = 0; at < history->n && !is_entry_of(&history->items[at], host, gpu);)
            at++;
    history->guess = at + 1;
    if (at < history->n)
        return (int)at;
    if (grow(history) < 0)
        return -1;
    struct live_history_entry *entry = &history->items[history->n];
    *entry = (struct live_history_entry){.host = strdup(host), .gpu = strdup(gpu)};
    for (int t = 0; t < LIVE_TRACES; t++)
        for (int s = 0; s < LIVE_HISTORY_S; s++)
            entry->values[t].value[s] = NAN;
    if (!entry->host || !entry->gpu) {
        free(entry->host);
        free(entry->gpu);
        return -1;
    }
    return (int)history->n++;
}

/* ---- seconds ---- */

static void shift(float values[LIVE_HISTORY_S], int64_t by) {
    int64_t keep = by < LIVE_HISTORY_S ? LIVE_HISTORY_S - by : 0;
    memmove(values, values + LIVE_HISTORY_S - keep, (size_t)keep * sizeof *values);
    for (int64_t s = keep; s < LIVE_HISTORY_S; s++)
        values[s] = NAN;
}

struct live_seconds live_history_advance(struct live_history_entry *entry, int64_t last_ns) {
    int64_t end_s = last_ns / NS_PER_S, by = end_s - entry->end_s;
    if (last_ns <= 0 || by <= 0)
        return (struct live_seconds){1, 0};
    for (int t = 0; t < LIVE_TRACES; t++)
        shift(entry->values[t].value, by);
    entry->end_s = end_s;
    return (struct live_seconds){end_s - (by < LIVE_HISTORY_S ? by : LIVE_HISTORY_S) + 1, end_s};
}

/* The value of a second that the entry covers. */
static float *value_at(struct live_history_entry *entry, enum live_trace trace, int64_t second) {
    return &entry->values[trace].value[LIVE_HISTORY_S - 1 - (entry->end_s - second)];
}

void live_history_take(struct live_history_entry *entry, struct live_seconds seconds,
                       enum metric metric, const struct rate *rate) {
    size_t i = 0;
    while (i < ARRAY_SIZE(traced) && traced[i].metric != metric)
        i++;
    if (i == ARRAY_SIZE(traced))
        return;
    for (int64_t s = seconds.begin_s; s <= seconds.end_s; s++) {
        double value = rate_mean_between(rate, (s - 1) * NS_PER_S, s * NS_PER_S);
        float *to = value_at(entry, traced[i].trace, s);
        if (metric == METRIC_CPU_IDLE)
            *to = (float)(100 - value);
        else if (metric == METRIC_CPU_IOWAIT) /* a group has no such metric */
            *to -= isnan(value) ? 0 : (float)value;
        else
            *to = (float)value;
    }
}

void live_history_complete(struct live_history_entry *entry,
                           const struct live_history_entry *other) {
    for (int64_t s = entry->end_s - LIVE_HISTORY_S + 1; s <= entry->end_s; s++) {
        int64_t at = LIVE_HISTORY_S - 1 - (other->end_s - s);
        if (at < 0 || at >= LIVE_HISTORY_S)
            continue;
        for (int t = 0; t < LIVE_TRACES; t++) {
            float *to = value_at(entry, (enum live_trace)t, s);
            if (isnan(*to))
                *to = other->values[t].value[at];
        }
    }
}

int live_history_take_gpu(struct live_history_entry *entry, struct live_seconds seconds,
                          const struct recording *recording, int host) {
    static const enum metric metrics[] = {METRIC_GPU_SM, METRIC_GPU_BUSY}; /* the first known one */
    for (size_t m = 0; m < ARRAY_SIZE(metrics) && seconds.begin_s <= seconds.end_s; m++) {
        struct rate rate;
        int result = metric_rate_of(recording, host, metrics[m], entry->gpu, &rate);
        if (result < 0)
            return result;
        for (int64_t s = seconds.begin_s; s <= seconds.end_s; s++) {
            float *to = value_at(entry, LIVE_TRACE_GPU, s);
            if (isnan(*to))
                *to = (float)rate_mean_between(&rate, (s - 1) * NS_PER_S, s * NS_PER_S);
        }
        rate_release(&rate);
    }
    return 0;
}

/* ---- of a whole recording ---- */

static int take_host(const struct recording *recording, int host, int64_t end_ns,
                     struct live_history *history) {
    int at = live_history_find(history, recording->hosts[host], "");
    if (at < 0)
        return -ENOMEM;
    struct live_seconds seconds = live_history_advance(&history->items[at], end_ns);
    for (size_t i = 0; i < ARRAY_SIZE(traced); i++) {
        struct rate rate;
        int result = metric_rate(recording, host, traced[i].metric, &rate);
        if (result < 0)
            return result;
        live_history_take(&history->items[at], seconds, traced[i].metric, &rate);
        rate_release(&rate);
    }
    return 0;
}

static int take_gpu(const struct recording *recording, const struct series *series, int64_t end_ns,
                    struct live_history *history) {
    int at = live_history_find(history, recording->hosts[series->host], series->name);
    if (at < 0)
        return -ENOMEM;
    struct live_history_entry *entry = &history->items[at];
    return live_history_take_gpu(entry, live_history_advance(entry, end_ns), recording,
                                 series->host);
}

int live_history_of(const struct recording *recording, int64_t end_ns,
                    struct live_history *history) {
    const struct series_set *gpus = &recording->tables[RECORDING_GPU];
    int result = 0;
    for (size_t h = 0; result == 0 && h < recording->n_hosts; h++)
        result = take_host(recording, (int)h, end_ns, history);
    for (size_t s = 0; result == 0 && s < gpus->n; s++)
        result = take_gpu(recording, &gpus->items[s], end_ns, history);
    return result;
}
