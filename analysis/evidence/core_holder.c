/* SPDX-License-Identifier: MIT */
/*
 * Finds who had the core that a process of the job waited for. It need not be one visible process:
 * many short ones (compilers, scripts) show only in what the cores did beyond the job.
 */
#include <math.h>

#include "analysis/evidence/cores.h"
#include "analysis/evidence/processes.h"
#include "analysis/facts/series/stats.h"

double core_beside(const struct run_model *model, size_t group, int host,
                   const struct model_process *than) {
    double cores = 0;
    const struct model_process *process = NULL;
    while ((process = model_next_process(model, host, true, process))) {
        if (process == than)
            continue;
        struct process_use use = model_group_use(model, process, group);
        cores += stats_or_zero(use.cpu_s) / use.wall_s;
    }
    return cores;
}

double core_outside_job(const struct run_model *model, size_t group, int host) {
    double used = model_mean(model, host, METRIC_CPU_USER, group) +
                  model_mean(model, host, METRIC_CPU_SYSTEM, group);
    double job = model_mean(model, host, METRIC_JOB_CPU, group);
    return fmax(0, stats_or_zero(used * model->hosts[host].n_cpus - job) / 100);
}

static bool could_hold(const struct run_model *model, double cores, double blocked) {
    return cores >= number_of(model, FOREIGN_MIN) &&
           cores >= number_of(model, FOREIGN_PART) * blocked;
}

/* The use of a host's cores by programs outside of its control group, in cores; NAN if that was not
 * recorded.
 */
static double outside_group(const struct run_model *model, size_t group, int host) {
    const struct series_set *set = &model->recording->tables[RECORDING_CPU];
    struct windows windows = phase_windows(&model->groups[group]);
    double cores = NAN;
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host &&
            series_last(set, &set->items[s], CPU_OUTSIDE) != VALUE_ABSENT)
            cores = stats_or_zero(cores) +
                    series_growth(set, &set->items[s], CPU_OUTSIDE, windows, NULL) /
                        (double)windows_length(windows);
    return cores;
}

/* Counters of whole cores include every program; those of a group do not show who else uses its
 * cores, if that was not recorded apart. A process waits while all cores are busy, so one that
 * waits for longer than the group used them waits for something else.
 */
static bool is_held_outside(const struct run_model *model, size_t group, int host, double blocked) {
    double busy = 100 - stats_or_zero(model_mean(model, host, METRIC_CPU_IDLE, group));
    double outside = model_shares_cores(model, host) ? 0 : outside_group(model, group, host);
    return isnan(outside) ? 100 * blocked > busy && recording_counts_group(model->recording, host)
                          : could_hold(model, outside, blocked);
}

/* Counters of shared cores include other hosts. */
enum holder core_holder(const struct run_model *model, size_t group, int host, double own,
                        double blocked) {
    double foreign;
    const struct model_process *other = busiest_foreign(model, group, host, &foreign);
    double many = model_shares_cores(model, host) ? 0 : core_outside_job(model, group, host);
    if (other && could_hold(model, foreign, blocked))
        return HELD_BY_FOREIGN;
    if (could_hold(model, many, blocked) && many > own)
        return HELD_BY_MANY;
    if (could_hold(model, own, blocked))
        return HELD_BY_JOB;
    return is_held_outside(model, group, host, blocked) ? HELD_OUTSIDE : HELD_AT_TIMES;
}
