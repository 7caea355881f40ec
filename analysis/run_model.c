/* SPDX-License-Identifier: MIT */
/* Functions that read a complete model, or a part of it: they use only facts. */
#include "analysis/run_model.h"

#include <math.h>
#include <stdlib.h>

const char *observed_source_name(enum observed_source source) {
    static const char *const names[SOURCE_COUNT_] = {[SOURCE_CALLS] = "calls",
                                                     [SOURCE_WAITS] = "waits",
                                                     [SOURCE_CONNECTIONS] = "connections",
                                                     [SOURCE_QDISC] = "qdisc",
                                                     [SOURCE_PSI] = "psi",
                                                     [SOURCE_DELAYS] = "delays",
                                                     [SOURCE_CGROUP] = "cgroup",
                                                     [SOURCE_OPERATORS] = "operators",
                                                     [SOURCE_CALIBRATION] = "beat",
                                                     [SOURCE_CLOCKS] = "clocks"};
    return names[source];
}

/* Rows have the names of cores; a control group of version 2 has one row for all its cores. */
static bool have_cores_in_common(const struct run_model *model, int one, int other) {
    const struct series_set *set = &model->recording->tables[RECORDING_CPU];
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == one && series_named(set, other, set->items[s].name))
            return true;
    return false;
}

bool model_shares_machine(const struct run_model *model, int one, int other) {
    const int64_t *machines = model->recording->machines;
    return machines && machines[one] != VALUE_ABSENT && machines[one] == machines[other] &&
           have_cores_in_common(model, one, other);
}

/* NAN if the column was never known. */
static double known_growth(const struct series_set *set, const struct series *series, size_t column,
                           struct windows windows) {
    bool known = series_last(set, series, column) != VALUE_ABSENT;
    return known ? series_growth(set, series, column, windows, NULL) : NAN;
}

struct process_use model_process_use(const struct run_model *model,
                                     const struct model_process *process, struct windows windows) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    const struct series *series = process->series;
    double user_s = known_growth(set, series, PROCESS_USER, windows) / 1e9;
    return (struct process_use){
        .wall_s = (double)windows_length(windows) / 1e9,
        .cpu_s = user_s + known_growth(set, series, PROCESS_SYSTEM, windows) / 1e9,
        .user_s = user_s,
        .run_queue_s = known_growth(set, series, PROCESS_RUN_QUEUE, windows) / 1e9,
        .disk_s = known_growth(set, series, PROCESS_BLOCK_IO, windows) / 1e9,
        .read_bytes = known_growth(set, series, PROCESS_READ, windows),
        .write_bytes = known_growth(set, series, PROCESS_WRITE, windows),
    };
}

const struct model_process *model_next_process(const struct run_model *model, int host, bool job,
                                               const struct model_process *after) {
    for (size_t p = after ? (size_t)(after - model->processes) + 1 : 0; p < model->n_processes; p++)
        if (model->processes[p].host == host && model->processes[p].job == job)
            return &model->processes[p];
    return NULL;
}

bool model_process_has_threads(const struct run_model *model, const struct model_process *process) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    for (size_t row = 0; row < process->series->n; row++)
        if (series_value(set, process->series, row, PROCESS_THREADS) > 1)
            return true;
    return false;
}

double model_growth(const struct run_model *model, int host, enum recording_table table,
                    size_t column, struct windows windows) {
    const struct series_set *set = &model->recording->tables[table];
    double growth = 0;
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host)
            growth += series_growth(set, &set->items[s], column, windows, NULL);
    return growth;
}

double model_mean(const struct run_model *model, int host, enum metric metric, size_t group) {
    return rate_mean(&model->hosts[host].metrics[metric], phase_windows(&model->groups[group]));
}

size_t model_iteration_count(const struct run_model *model, size_t group) {
    size_t count = 0;
    for (size_t r = 0; r < model->iterations.n; r++) {
        const struct rank_iterations *rank = &model->iterations.ranks[r];
        double *values = malloc((rank->n + 1) * sizeof *values);
        if (values)
            count += iteration_durations(rank, phase_windows(&model->groups[group]), values);
        free(values);
    }
    return count;
}
