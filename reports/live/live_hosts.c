/* SPDX-License-Identifier: MIT */
/* The figures of each host in its last second. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/live/live_private.h"

#define BIT(column) (UINT64_C(1) << (column))
#define CPU_ALL UINT64_C(0xff)
#define CPU_FREE (BIT(CPU_IDLE) | BIT(CPU_IOWAIT))

/* Its figures of now, and of the seconds that are complete since the last picture. */
static int fill_metrics(struct live_host *to, const struct live_window *window, int host,
                        struct window now, struct live_history_entry *entry) {
    struct live_seconds seconds = live_history_advance(entry, window->last_ns[host]);
    for (int m = 0; m < METRIC_JOB_CPU; m++) {
        struct rate rate;
        int result = metric_rate(&window->recording, host, (enum metric)m, &rate);
        if (result < 0)
            return result;
        to->metrics[m] = rate_mean_between(&rate, now.begin_ns, now.end_ns);
        live_history_take(entry, seconds, (enum metric)m, &rate);
        rate_release(&rate);
    }
    double wait = to->metrics[METRIC_CPU_IOWAIT]; /* a group has no such metric */
    to->cpu_pct = 100 - to->metrics[METRIC_CPU_IDLE] - (isnan(wait) ? 0 : wait);
    return 0;
}

/* ---- cores ---- */

struct core {
    int number;
    double pct;
};

static int compare_cores(const void *a, const void *b) {
    const struct core *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static size_t list_cores(const struct live_window *window, int host, struct window now,
                         struct core *cores) {
    const struct series_set *set = &window->recording.tables[RECORDING_CPU];
    struct series_range range = series_set_of_host(set, host);
    size_t n = 0;
    for (size_t s = range.begin; s < range.end && n < LIVE_CORES_MAX; s++) {
        const struct series *series = &set->items[s];
        double all = live_window_growth(set, series, CPU_ALL, now);
        double idle = live_window_growth(set, series, CPU_FREE, now);
        bool core = series->key.form == KEY_CORE && series->key.core != KEY_ALL_CORES;
        if (core && all > 0) /* an offline core's counters do not grow */
            cores[n++] = (struct core){(int)series->key.core, 100 * (all - idle) / all};
    }
    if (n)
        qsort(cores, n, sizeof *cores, compare_cores);
    return n;
}

static int fill_cores(struct live_host *to, const struct live_window *window, int host,
                      struct window now) {
    struct core cores[LIVE_CORES_MAX];
    size_t n = list_cores(window, host, now, cores);
    to->core_pct = malloc((n + 1) * sizeof *to->core_pct);
    to->core_number = malloc((n + 1) * sizeof *to->core_number);
    if (!to->core_pct || !to->core_number)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        to->core_pct[i] = cores[i].pct;
        to->core_number[i] = cores[i].number;
    }
    to->n_cores = n;
    return 0;
}

/* ---- levels ---- */

static int64_t level(const struct live_window *window, int host, enum recording_table table,
                     size_t column) {
    const struct series_set *set = &window->recording.tables[table];
    struct series_range range = series_set_of_host(set, host);
    for (size_t s = range.begin; s < range.end; s++)
        if (set->items[s].host == host)
            return series_last(set, &set->items[s], column);
    return VALUE_ABSENT;
}

static double scaled(int64_t value, double scale) {
    return value == VALUE_ABSENT ? NAN : (double)value * scale;
}

/* Known from one sample on, unlike rates and means of levels. */
static void fill_memory(struct live_host *to, const struct live_window *window, int host) {
    double available = scaled(level(window, host, RECORDING_MEMORY, MEMORY_AVAILABLE), 1e-9);
    to->metrics[METRIC_MEM_FREE] = available;
    to->metrics[METRIC_MEM_USED] = to->memory_gb - available;
}

static void fill_levels(struct live_host *to, const struct live_window *window, int host) {
    to->memory_gb = scaled(level(window, host, RECORDING_MEMORY, MEMORY_TOTAL), 1e-9);
    to->swap_gb = scaled(level(window, host, RECORDING_MEMORY, MEMORY_SWAP_TOTAL), 1e-9);
    to->swap_used_gb =
        to->swap_gb - scaled(level(window, host, RECORDING_MEMORY, MEMORY_SWAP_FREE), 1e-9);
    for (size_t i = 0; i < 3; i++)
        to->load[i] = scaled(level(window, host, RECORDING_LOAD, LOAD_1 + i), 1e-9);
    to->uptime_s = scaled(level(window, host, RECORDING_LOAD, LOAD_UPTIME), 1e-9);
    for (size_t i = 0; i < LIVE_TASKS; i++) {
        int64_t tasks = level(window, host, RECORDING_LOAD, LOAD_RUNNING + i);
        to->tasks[i] = tasks < 0 ? -1 : tasks;
    }
}

/* ---- all of them ---- */

static int compare_names(const void *a, const void *b, void *ctx) {
    char *const *names = ctx;
    return strverscmp(names[*(const int *)a], names[*(const int *)b]);
}

/* Finds the position of each of the window's hosts in the order of names. */
static int find_places(struct live_picture *picture, const struct recording *recording) {
    size_t n = recording->n_hosts;
    int *order = malloc((n + 1) * sizeof *order);
    picture->place = malloc((n + 1) * sizeof *picture->place);
    if (!order || !picture->place)
        return free(order), -ENOMEM;
    for (size_t h = 0; h < n; h++)
        order[h] = (int)h;
    qsort_r(order, n, sizeof *order, compare_names, recording->hosts);
    for (size_t i = 0; i < n; i++)
        picture->place[order[i]] = (int)i;
    free(order);
    return 0;
}

static int fill_host(struct live_picture *picture, const struct live_window *window, int host,
                     struct live_history *history) {
    struct live_host *to = &picture->snapshot.hosts[picture->place[host]];
    struct window now = live_window_now(window, host);
    const char *name = window->recording.hosts[host];
    to->name = live_keep(picture, name, strlen(name));
    to->seen_s = scaled(window->last_ns[host], 1e-9);
    to->send_ceiling_mb_s = to->receive_ceiling_mb_s = NAN;
    to->read_ceiling_mb_s = to->write_ceiling_mb_s = NAN;
    fill_levels(to, window, host);
    int entry = live_history_find(history, name, "");
    int result = entry < 0 ? -ENOMEM : fill_metrics(to, window, host, now, &history->items[entry]);
    fill_memory(to, window, host);
    if (result == 0)
        result = fill_cores(to, window, host, now);
    return result < 0 ? result : live_fill_gpus(picture, to, window, host, history);
}

int live_fill_hosts(struct live_picture *picture, const struct live_window *window,
                    struct live_history *history) {
    struct live_snapshot *snapshot = &picture->snapshot;
    int result = find_places(picture, &window->recording);
    snapshot->hosts = calloc(window->recording.n_hosts + 1, sizeof *snapshot->hosts);
    if (!snapshot->hosts)
        return -ENOMEM;
    snapshot->n_hosts = result < 0 ? 0 : window->recording.n_hosts;
    for (size_t h = 0; result == 0 && h < snapshot->n_hosts; h++)
        result = fill_host(picture, window, (int)h, history);
    return result;
}

void live_fill_histories(struct live_picture *picture, struct live_history *history) {
    for (size_t h = 0; h < picture->snapshot.n_hosts; h++) {
        struct live_host *host = &picture->snapshot.hosts[h];
        int at = live_history_find(history, host->name, "");
        if (at >= 0)
            host->history = history->items[at].values;
        for (size_t g = 0; g < host->n_gpus; g++) {
            at = live_history_find(history, host->name, host->gpus[g].name);
            if (at >= 0)
                host->gpus[g].history = history->items[at].values;
        }
    }
}
