/* SPDX-License-Identifier: MIT */
/* Processes: the job's first, and the budget of each rank from what the kernel counts for it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model/model_private.h"

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

int report_fill_processes(struct report *report, const struct run_model *model) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    struct windows all = phase_windows(&model->groups[0]);
    report->processes = calloc(model->n_processes + 1, sizeof *report->processes);
    if (!report->processes)
        return -ENOMEM;
    for (size_t i = 0; i < model->n_processes; i++) {
        const struct model_process *p = &model->processes[i];
        struct process_use use = model_process_use(model, p, all);
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
