/* SPDX-License-Identifier: MIT */
#include "analysis/run_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/iteration/phase_detect.h"
#include "analysis/facts/recording/members.h"
#include "analysis/facts/series/align.h"
#include "analysis/time/critical_path.h"

static int swap_rate(const struct recording *recording, int host, struct rate *ret_rate) {
    const struct series_set *set = &recording->tables[RECORDING_MEMORY];
    struct rate rate;
    int result = align_grid(set, host, NULL, NULL, 1e-9, &rate);
    if (result < 0)
        return result;
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host)
            align_level(set, &set->items[s], UINT64_C(1) << MEMORY_SWAP_TOTAL,
                        UINT64_C(1) << MEMORY_SWAP_FREE, &rate, rate.amount, rate.base);
    *ret_rate = rate;
    return 0;
}

static double last_gb(const struct recording *recording, int host, size_t column) {
    const struct series_set *set = &recording->tables[RECORDING_MEMORY];
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host) {
            int64_t value = series_last(set, &set->items[s], column);
            return value == VALUE_ABSENT ? NAN : (double)value / 1e9;
        }
    return NAN;
}

/* One row a core; a control group of version 2 has one row for all, whose time per second tells. */
static unsigned count_cpus(const struct recording *recording, int host) {
    const struct series_set *set = &recording->tables[RECORDING_CPU];
    const struct series *only = NULL;
    unsigned n = 0;
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host) {
            n++;
            only = &set->items[s];
        }
    if (n != 1 || strcmp(only->name, "cpus") != 0)
        return n;
    struct window all = {INT64_MIN / 2, INT64_MAX / 2};
    int64_t covered;
    double time = 0;
    for (size_t c = 0; c < set->n_columns; c++)
        time += series_growth(set, only, c, (struct windows){&all, 1}, &covered);
    series_growth(set, only, CPU_IDLE, (struct windows){&all, 1}, &covered);
    return covered > 0 ? (unsigned)lround(time / (double)covered) : 1;
}

static int build_host(const struct recording *recording, int h, struct model_host *host) {
    int result = swap_rate(recording, h, &host->swap);
    for (int m = 0; result == 0 && m < METRIC_COUNT_; m++)
        result = metric_rate(recording, h, m, &host->metrics[m]);
    host->name = recording->hosts[h];
    host->memory_gb = last_gb(recording, h, MEMORY_TOTAL);
    host->swap_gb = last_gb(recording, h, MEMORY_SWAP_TOTAL);
    host->n_cpus = count_cpus(recording, h);
    return result;
}

static int build_hosts(struct run_model *model) {
    const struct recording *recording = model->recording;
    model->hosts = calloc(recording->n_hosts + 1, sizeof *model->hosts);
    if (!model->hosts)
        return -ENOMEM;
    model->n_hosts = recording->n_hosts;
    for (size_t h = 0; h < model->n_hosts; h++) {
        int result = build_host(recording, (int)h, &model->hosts[h]);
        if (result < 0)
            return result;
    }
    return 0;
}

static int build_processes(struct run_model *model) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    struct member *members;
    model->processes = calloc(set->n + 1, sizeof *model->processes);
    int result = model->processes ? members_find(model->recording, &members) : -ENOMEM;
    if (result < 0)
        return result;
    for (size_t s = 0; s < set->n; s++)
        model->processes[model->n_processes++] =
            (struct model_process){.series = &set->items[s],
                                   .host = set->items[s].host,
                                   .rank = members[s].rank,
                                   .job = members[s].job,
                                   .launcher = members[s].launcher};
    free(members);
    return 0;
}

static size_t choose_main(const struct run_model *model) {
    size_t best = 0, most = 0;
    int64_t longest = 0;
    for (size_t g = 1; g < model->n_groups; g++) {
        size_t count = model_iteration_count(model, g);
        int64_t length = windows_length(phase_windows(&model->groups[g]));
        if (count > most || (count == most && length > longest)) {
            best = g;
            most = count;
            longest = length;
        }
    }
    return best;
}

static struct call_clock clock_of(const struct recording *recording) {
    static const int64_t none;
    return (struct call_clock){recording->clock_bound_ns ? recording->clock_bound_ns : &none,
                               recording->clock_bound_ns ? recording->n_hosts : 0};
}

/* Marks win. */
static int find_phases(struct run_model *model) {
    int result = phases_from_marks(model->recording, &model->phases, &model->n_phases);
    if (result < 0 || model->n_phases)
        return result;
    free(model->phases);
    model->phases = NULL;
    result = phases_detect(model->recording, &model->iterations, &model->phases, &model->n_phases);
    model->phases_detected = model->n_phases > 0;
    return result;
}

/* ---- what can be seen ---- */

static bool has_core(const struct series_set *set, int host, const char *name) {
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host && strcmp(set->items[s].name, name) == 0)
            return true;
    return false;
}

/* Rows are named by core; a control group of version 2 has one row for all it may use. */
static bool have_cores_in_common(const struct run_model *model, int one, int other) {
    const struct series_set *set = &model->recording->tables[RECORDING_CPU];
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == one && has_core(set, other, set->items[s].name))
            return true;
    return false;
}

bool model_shares_machine(const struct run_model *model, int one, int other) {
    const int64_t *machines = model->recording->machines;
    return machines && machines[one] != VALUE_ABSENT && machines[one] == machines[other] &&
           have_cores_in_common(model, one, other);
}

/* The same for each group: iterations of ranks that run freely. */
static bool runs_freely(const struct run_model *model) {
    double done = 0;
    for (size_t i = 0; i < model->critical.n_own; i++)
        done += model->critical.own[i].done[model->main_group];
    return done > 0;
}

const char *observed_source_name(enum observed_source source) {
    static const char *const names[SOURCE_COUNT_] = {
        [SOURCE_CALLS] = "calls",         [SOURCE_CONNECTIONS] = "connections",
        [SOURCE_QDISC] = "qdisc",         [SOURCE_PSI] = "psi",
        [SOURCE_DELAYS] = "delays",       [SOURCE_CGROUP] = "cgroup",
        [SOURCE_OPERATORS] = "operators", [SOURCE_CALIBRATION] = "beat"};
    return names[source];
}

static unsigned left_out; /* the same for all of a process */

void model_leave_out(unsigned sources) {
    left_out = sources;
}

static bool has_calibration(const struct series_set *set) {
    for (size_t s = 0; s < set->n; s++)
        if (strcmp(set->items[s].name, "core") == 0)
            return true;
    return false;
}

/* All zero looks the same as no accounting. */
static bool has_delays(const struct series_set *set) {
    for (size_t s = 0; s < set->n; s++)
        if (series_last(set, &set->items[s], PROCESS_BLOCK_IO) > 0)
            return true;
    return false;
}

static bool has_operators(const struct recording *recording) {
    for (size_t m = 0; m < recording->n_marks; m++)
        if (recording->marks[m].kind == MARK_OPERATOR)
            return true;
    return false;
}

static bool has_pressure(const struct run_model *model) {
    for (size_t h = 0; h < model->n_hosts; h++)
        if (!isnan(model_mean(model, (int)h, METRIC_PSI_CPU, 0)))
            return true;
    return false;
}

static unsigned sources_of(const struct run_model *model) {
    const struct series_set *tables = model->recording->tables;
    bool there[SOURCE_COUNT_] = {[SOURCE_CALLS] = model->critical.source == CRITICAL_FROM_EVENTS,
                                 [SOURCE_CONNECTIONS] = tables[RECORDING_CONNECTION].n > 0,
                                 [SOURCE_QDISC] = tables[RECORDING_QDISC].n > 0,
                                 [SOURCE_PSI] = has_pressure(model),
                                 [SOURCE_DELAYS] = has_delays(&tables[RECORDING_PROCESS]),
                                 [SOURCE_CGROUP] = tables[RECORDING_CGROUP].n > 0,
                                 [SOURCE_OPERATORS] = has_operators(model->recording),
                                 [SOURCE_CALIBRATION] = has_calibration(&tables[RECORDING_SELF])};
    unsigned sources = 0;
    for (int s = 0; s < SOURCE_COUNT_; s++)
        sources |= there[s] ? 1u << s : 0;
    return sources & ~left_out;
}

static int observe(struct run_model *model) {
    struct observed *o = &model->observed;
    o->sources = sources_of(model);
    o->path = o->sources >> SOURCE_CALLS & 1;
    o->freely = o->path && runs_freely(model);
    o->shares_cores = calloc(model->n_hosts + 1, sizeof *o->shares_cores);
    for (size_t h = 0; o->shares_cores && h < model->n_hosts; h++)
        for (size_t k = 0; k < model->n_hosts && !o->shares_cores[h]; k++)
            o->shares_cores[h] = h != k && model_shares_machine(model, (int)h, (int)k);
    return o->shares_cores ? 0 : -ENOMEM;
}

int model_build(const struct recording *recording, struct run_model *ret_model) {
    struct run_model model = {.recording = recording};
    int result = build_hosts(&model);
    if (result == 0)
        result = iterations_find(recording, &model.iterations);
    if (result == 0)
        result = find_phases(&model);
    if (result == 0)
        result = phase_groups_make(model.phases, model.n_phases, recording->duration_ns,
                                   &model.groups, &model.n_groups);
    if (result == 0)
        result = build_processes(&model);
    if (result < 0) {
        model_release(&model);
        return result;
    }
    model.main_group = choose_main(&model);
    model.clock = clock_of(recording);
    result = call_match(&recording->calls, &model.clock, &model.matches);
    if (result == 0)
        result = rank_budgets_make(&model, &model.budgets, &model.critical);
    if (result == 0)
        result = observe(&model);
    if (result < 0) {
        model_release(&model);
        return result;
    }
    *ret_model = model;
    return 0;
}

void model_release(struct run_model *model) {
    free(model->observed.shares_cores);
    for (size_t h = 0; model->hosts && h < model->n_hosts; h++) {
        for (int m = 0; m < METRIC_COUNT_; m++)
            rate_release(&model->hosts[h].metrics[m]);
        rate_release(&model->hosts[h].swap);
    }
    free(model->hosts);
    free(model->phases);
    phase_groups_free(model->groups, model->n_groups);
    iterations_release(&model->iterations);
    free(model->processes);
    rank_budgets_release(&model->budgets);
    critical_path_release(&model->critical);
    call_matches_release(&model->matches);
    *model = (struct run_model){0};
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
