/* SPDX-License-Identifier: MIT */
#include "reports/model/run_use.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/facts/gpus.h"
#include "reports/model/reported.h"

/* Whether an earlier host is the same machine. */
static bool is_counted(const struct report *report, size_t host) {
    for (size_t h = 0; h < host; h++)
        if (report->hosts[host].machine && report->hosts[h].machine == report->hosts[host].machine)
            return true;
    return false;
}

static const struct report_value *whole(const struct report *report, size_t host,
                                        enum metric metric) {
    return &report->resources[0].values[host * METRIC_COUNT_ + metric];
}

/* The smaller of what a host has and what its control groups leave; *least starts as the host's. */
static void take_limits(const struct series_set *set, size_t host, double *cores,
                        double *memory_gb) {
    for (size_t s = 0; s < set->n; s++) {
        const struct series *group = &set->items[s];
        if (group->host != (int)host)
            continue;
        int64_t quota = series_last(set, group, CGROUP_QUOTA),
                period = series_last(set, group, CGROUP_PERIOD),
                limit = series_last(set, group, CGROUP_MEMORY_LIMIT);
        if (quota > 0 && period > 0)
            *cores = fmin(*cores, (double)quota / (double)period);
        if (limit > 0)
            *memory_gb = fmin(*memory_gb, (double)limit / 1e9);
    }
}

static void add_host(const struct report *report, size_t host, struct run_use *use) {
    const struct series_set *groups = &report->run->model.recording->tables[RECORDING_CGROUP];
    double n = report->hosts[host].n_cpus, job_cpu = whole(report, host, METRIC_JOB_CPU)->mean,
           cores = n > 0 ? n : NAN, memory = report->run->model.hosts[host].memory_gb,
           job_memory = whole(report, host, METRIC_JOB_MEM)->peak,
           idle = whole(report, host, METRIC_CPU_IDLE)->mean;
    if (!(memory > 0))
        memory = NAN;
    bool again = is_counted(report, host);
    if (!again) {
        take_limits(groups, host, &cores, &memory);
        use->cores += cores;
        use->memory_gb += memory;
    }
    if (!isnan(job_cpu))
        use->cores_used += job_cpu / 100;
    else if (!again)
        use->cores_used += n * (1 - idle / 100);
    if (!isnan(job_memory))
        use->memory_peak_gb += job_memory;
    else if (!again)
        use->memory_peak_gb += whole(report, host, METRIC_MEM_USED)->peak;
}

/* Parts of a divided GPU are not counted beside it. */
static int add_gpus(const struct report *report, struct run_use *use) {
    struct gpus gpus;
    int result = gpus_summarize(&report->run->model, &gpus);
    if (result < 0)
        return result;
    for (size_t i = 0; i < gpus.n; i++) {
        if (strchr(gpus.items[i].name, '/'))
            continue;
        use->gpus++;
        use->gpus_used += gpus.items[i].busy_pct / 100;
    }
    free(gpus.items);
    return 0;
}

int run_use_of(const struct report *report, struct run_use *ret_use) {
    *ret_use = (struct run_use){0};
    for (size_t h = 0; h < report->n_hosts; h++)
        if (!report->hosts[h].missing)
            add_host(report, h, ret_use);
    return add_gpus(report, ret_use);
}
