/* SPDX-License-Identifier: MIT */
/* Processes: the job's first, and the budget of each rank from what the kernel counts for it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model_private.h"

#define JOB_MAX 16    /* a host */
#define FOREIGN_MAX 3 /* a host */
#define CPU_MIN_PCT 0.1

/* Bytes x time over the time it lived, as GB. */
static double mean_rss_gb(const struct series_set *set, const struct series *series) {
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < series->n; i++) {
        int64_t rss = series_value(set, series, i, PROCESS_RSS);
        if (rss == VALUE_ABSENT)
            continue;
        sum += (double)rss;
        n++;
    }
    return n ? sum / (double)n / 1e9 : NAN;
}

static int compare(const void *a, const void *b) {
    const struct report_process *x = a, *y = b;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->job != y->job)
        return x->job ? -1 : 1;
    return (x->cpu_pct < y->cpu_pct) - (x->cpu_pct > y->cpu_pct);
}

/* Sorted: keeps the first few of each host and kind. */
static void keep_busiest(struct report *report) {
    size_t kept = 0, of_kind = 0;
    for (size_t i = 0; i < report->n_processes; i++) {
        struct report_process *p = &report->processes[i];
        const struct report_process *last = i ? &report->processes[i - 1] : NULL;
        bool same_kind = last && last->host == p->host && last->job == p->job;
        of_kind = same_kind ? of_kind + 1 : 1;
        bool keep = p->job ? of_kind <= JOB_MAX : of_kind <= FOREIGN_MAX;
        struct report_process copy = *p;
        if (keep && (p->job ? !isnan(p->cpu_pct) : p->cpu_pct >= CPU_MIN_PCT)) {
            report->processes[kept++] = copy;
        } else {
            free(copy.name);
        }
    }
    report->n_processes = kept;
}

static int fill_processes(struct report *report, const struct scene *scene) {
    const struct series_set *set = &scene->recording->tables[RECORDING_PROCESS];
    struct windows all = phase_windows(&scene->groups[0]);
    report->processes = calloc(scene->n_processes + 1, sizeof *report->processes);
    if (!report->processes)
        return -ENOMEM;
    for (size_t i = 0; i < scene->n_processes; i++) {
        const struct scene_process *p = &scene->processes[i];
        struct process_use use = scene_process_use(scene, p, all);
        struct report_process *to = &report->processes[report->n_processes++];
        *to = (struct report_process){.host = p->host,
                                      .name = strdup(p->series->name),
                                      .rank = p->rank,
                                      .job = p->job,
                                      .cpu_pct = 100 * use.cpu_s / use.wall_s,
                                      .rss_gb = mean_rss_gb(set, p->series),
                                      .run_queue_pct = 100 * use.run_queue_s / use.wall_s,
                                      .read_mb_s = use.read_bytes / 1e6 / use.wall_s,
                                      .write_mb_s = use.write_bytes / 1e6 / use.wall_s};
        if (!to->name)
            return -ENOMEM;
    }
    qsort(report->processes, report->n_processes, sizeof *report->processes, compare);
    keep_busiest(report);
    return 0;
}

static int add_budget(struct report *report, const struct scene *scene, size_t group,
                      const struct scene_process *process) {
    struct process_use use =
        scene_process_use(scene, process, phase_windows(&scene->groups[group]));
    struct report_budget *to = &report->budget[report->n_budget++];
    *to = (struct report_budget){.host = process->host,
                                 .rank = process->rank,
                                 .phase = strdup(report->resources[group].phase),
                                 .wall_s = use.wall_s,
                                 .cpu_s = use.cpu_s,
                                 .runqueue_s = use.run_queue_s,
                                 .disk_s = use.disk_s,
                                 .quota_s = NAN,
                                 .steal_s = NAN,
                                 .memory_s = NAN,
                                 .idle_s = NAN,
                                 .peer_wait_s = NAN,
                                 .transfer_s = NAN,
                                 .mpi_overhead_s = NAN,
                                 .closure_pct = NAN}; /* nothing sees all of it */
    return to->phase ? 0 : -ENOMEM;
}

static int compare_budgets(const void *a, const void *b) {
    const struct report_budget *x = a, *y = b;
    return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : 0;
}

static int fill_budget(struct report *report, const struct scene *scene) {
    int result = 0;
    report->budget = calloc(scene->n_processes * scene->n_groups + 1, sizeof *report->budget);
    if (!report->budget)
        return -ENOMEM;
    for (size_t g = 0; g < scene->n_groups; g++) {
        size_t first = report->n_budget;
        for (size_t p = 0; result == 0 && p < scene->n_processes; p++)
            if (scene->processes[p].job && scene->processes[p].rank >= 0)
                result = add_budget(report, scene, g, &scene->processes[p]);
        qsort(report->budget + first, report->n_budget - first, sizeof *report->budget,
              compare_budgets);
    }
    return result;
}

int report_fill_processes(struct report *report, const struct scene *scene) {
    int result = fill_processes(report, scene);
    return result < 0 ? result : fill_budget(report, scene);
}
