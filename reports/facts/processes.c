/* SPDX-License-Identifier: MIT */
#include "reports/facts/processes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/processes.h"

#define JOB_MAX 16    /* per host; one row adds up the others */
#define FOREIGN_MAX 3 /* per host */
#define CPU_MIN_PCT 0.1

/* Mean weighted by time over the process's life, in GB. */
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

static int compare_process_rows(const void *a, const void *b) {
    const struct report_process *x = a, *y = b;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->job != y->job)
        return x->job ? -1 : 1;
    return (x->cpu_pct < y->cpu_pct) - (x->cpu_pct > y->cpu_pct);
}

static void add_known(double *sum, double part) {
    *sum = isnan(*sum) ? part : isnan(part) ? *sum : *sum + part;
}

/* Adds a process to the row of the job's others: none is left out. */
static void add_to_others(struct report_process *others, const struct report_process *p) {
    add_known(&others->cpu_pct, p->cpu_pct);
    add_known(&others->rss_gb, p->rss_gb);
    add_known(&others->run_queue_pct, p->run_queue_pct);
    add_known(&others->read_mb_s, p->read_mb_s);
    add_known(&others->write_mb_s, p->write_mb_s);
    add_known(&others->received_mb_s, p->received_mb_s);
    add_known(&others->sent_mb_s, p->sent_mb_s);
}

/* The list is sorted: keeps the first few of each host and kind. */
static void keep_busiest(struct processes *p) {
    size_t kept = 0, of_kind = 0;
    int host = -1;
    bool job = false;
    for (size_t i = 0; i < p->n; i++) {
        struct report_process copy = p->items[i];
        of_kind = i && host == copy.host && job == copy.job ? of_kind + 1 : 1;
        host = copy.host;
        job = copy.job;
        if (job && of_kind == JOB_MAX + 1) {
            copy.name = "(others)";
            copy.rank = -1;
        }
        if (job && of_kind > JOB_MAX + 1)
            add_to_others(&p->items[kept - 1], &copy);
        bool keep = job ? of_kind <= JOB_MAX + 1 && !isnan(copy.cpu_pct)
                        : of_kind <= FOREIGN_MAX && copy.cpu_pct >= CPU_MIN_PCT;
        if (keep)
            p->items[kept++] = copy;
    }
    p->n = kept;
}

double processes_unseen_s(const struct run_model *model, int host, struct windows windows) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    double sum = 0;
    for (size_t i = 0; i < model->n_processes; i++)
        if (model->processes[i].host == host && model->processes[i].job)
            sum += series_growth(set, model->processes[i].series, PROCESS_UNSEEN, windows, NULL);
    return sum / 1e9;
}

/* Whether it is the rank itself: a rank's wrappers and helpers (a shell, its sleeps) carry its
 * number, too. */
static bool stands_for_rank(const struct run_model *model, const struct model_process *process) {
    return !model->budgets.n || model_is_rank(model, process);
}

static struct report_process describe_process(const struct run_model *model,
                                              const struct process_traffic *traffic,
                                              const struct model_process *p) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    struct windows all = phase_windows(&model->groups[0]);
    struct process_use use = model_process_use(model, p, all);
    struct traffic moved = process_traffic_named(traffic, p->series);
    if (strcmp(p->series->name, RECORDING_ENDED) == 0)
        use.cpu_s += processes_unseen_s(model, p->host, all);
    return (struct report_process){.host = p->host,
                                   .name = p->series->name,
                                   .rank = stands_for_rank(model, p) ? p->rank : -1,
                                   .job = p->job,
                                   .cpu_pct = 100 * use.cpu_s / use.wall_s,
                                   .rss_gb = mean_rss_gb(set, p->series),
                                   .run_queue_pct = 100 * use.run_queue_s / use.wall_s,
                                   .read_mb_s = use.read_bytes / 1e6 / use.wall_s,
                                   .write_mb_s = use.write_bytes / 1e6 / use.wall_s,
                                   .received_mb_s = moved.received_bytes / 1e6 / use.wall_s,
                                   .sent_mb_s = moved.sent_bytes / 1e6 / use.wall_s};
}

int processes_find(const struct run_model *model, const struct process_traffic *traffic,
                   struct processes *ret_processes) {
    struct processes found = {.items = calloc(model->n_processes + 1, sizeof *found.items)};
    if (!found.items)
        return -ENOMEM;
    for (size_t i = 0; i < model->n_processes; i++)
        found.items[found.n++] = describe_process(model, traffic, &model->processes[i]);
    qsort(found.items, found.n, sizeof *found.items, compare_process_rows);
    keep_busiest(&found);
    *ret_processes = found;
    return 0;
}
