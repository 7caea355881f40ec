/* SPDX-License-Identifier: MIT */
/* The busiest processes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/live/live_private.h"

#define BIT(column) (UINT64_C(1) << (column))

/* The name without the process id, which has its own column. */
static const char *name_of(struct live_picture *picture, const struct series *series) {
    const struct key_process *process = &series->key.process;
    bool plain = series->key.form == KEY_PROCESS && process->pid > 0 && process->program.size;
    return live_keep(picture, series->name, plain ? process->program.size : strlen(series->name));
}

static void fill_process(struct live_picture *picture, const struct series_set *set,
                         const struct series *series, struct window now, struct live_process *to) {
    int64_t rank = series_last(set, series, PROCESS_RANK), pid, rss;
    pid = series_last(set, series, PROCESS_PID);
    rss = series_last(set, series, PROCESS_RSS);
    *to = (struct live_process){
        .host = picture->place[series->host],
        .pid = pid < 0 ? -1 : pid,
        .rank = rank < 0 || rank > INT32_MAX ? -1 : (int)rank,
        .job = series_last(set, series, PROCESS_JOB) == 1,
        .name = name_of(picture, series),
        .cpu_pct =
            live_window_growth(set, series, BIT(PROCESS_USER) | BIT(PROCESS_SYSTEM), now) / 1e7,
        .run_queue_pct = live_window_growth(set, series, BIT(PROCESS_RUN_QUEUE), now) / 1e7,
        .memory_gb = rss < 0 ? NAN : (double)rss / 1e9,
        .read_mb_s = live_window_growth(set, series, BIT(PROCESS_READ), now) / 1e6,
        .write_mb_s = live_window_growth(set, series, BIT(PROCESS_WRITE), now) / 1e6,
        .threads = series_last(set, series, PROCESS_THREADS)};
    if (to->threads < 0)
        to->threads = -1;
}

/* Larger numbers first, unknown ones last. */
static int compare_numbers(double x, double y) {
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x < y) - (x > y);
}

static int compare_processes(const void *a, const void *b) {
    const struct live_process *x = a, *y = b;
    int order = compare_numbers(x->cpu_pct, y->cpu_pct);
    if (!order)
        order = compare_numbers(x->memory_gb, y->memory_gb);
    return order ? order : (x->pid > y->pid) - (x->pid < y->pid);
}

int live_fill_processes(struct live_picture *picture, const struct live_window *window) {
    const struct series_set *set = &window->recording.tables[RECORDING_PROCESS];
    struct live_snapshot *snapshot = &picture->snapshot;
    struct window now;
    snapshot->processes = calloc(set->n + 1, sizeof *snapshot->processes);
    if (!snapshot->processes)
        return -ENOMEM;
    for (size_t s = 0; s < set->n; s++)
        if (live_window_now_of(window, &set->items[s], &now))
            fill_process(picture, set, &set->items[s], now,
                         &snapshot->processes[snapshot->n_processes++]);
    qsort(snapshot->processes, snapshot->n_processes, sizeof *snapshot->processes,
          compare_processes);
    if (snapshot->n_processes > LIVE_PROCESSES_MAX)
        snapshot->n_processes = LIVE_PROCESSES_MAX;
    return 0;
}
