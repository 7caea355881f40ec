/* SPDX-License-Identifier: MIT */
#include "analysis/run_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

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

/* A host has one row for each core; a control group of version 2 has one row for all its cores,
 * whose time per second shows their number.
 */
static unsigned count_cpus(const struct recording *recording, int host) {
    const struct series_set *set = &recording->tables[RECORDING_CPU];
    const struct series *only = NULL;
    unsigned n = 0;
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host) {
            n++;
            only = &set->items[s];
        }
    if (n != 1 || only->key.core != KEY_ALL_CORES)
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

static void find_job_hosts(struct run_model *model) {
    bool any = false;
    for (size_t i = 0; i < model->n_processes; i++) {
        const struct model_process *process = &model->processes[i];
        bool works = process->job && !process->launcher;
        model->hosts[process->host].has_job |= works;
        any |= works;
    }
    for (size_t h = 0; !any && h < model->n_hosts; h++)
        model->hosts[h].has_job = true;
}

size_t model_job_hosts(const struct run_model *model) {
    size_t n = 0;
    for (size_t h = 0; h < model->n_hosts; h++)
        n += model->hosts[h].has_job;
    return n;
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
    find_job_hosts(model);
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

/* Marked phases go before detected ones. */
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

/* Whether ranks run freely in the main group; all groups are treated alike. */
static bool runs_freely(const struct run_model *model) {
    double done = 0;
    for (size_t i = 0; i < model->critical.n_own; i++)
        done += model->critical.own[i].done[model->main_group];
    return done > 0;
}

/* All zeros mean that the kernel does not account delays. */
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
    bool has_path = model->critical.source == CRITICAL_FROM_EVENTS ||
                    model->critical.source == CRITICAL_FROM_WAITS;
    bool there[SOURCE_COUNT_] = {[SOURCE_CALLS] = model->critical.source == CRITICAL_FROM_EVENTS,
                                 [SOURCE_WAITS] = model->critical.source == CRITICAL_FROM_WAITS,
                                 [SOURCE_CONNECTIONS] = tables[RECORDING_CONNECTION].n > 0,
                                 [SOURCE_QDISC] = tables[RECORDING_QDISC].n > 0,
                                 [SOURCE_PSI] = has_pressure(model),
                                 [SOURCE_DELAYS] = has_delays(&tables[RECORDING_PROCESS]),
                                 [SOURCE_CGROUP] = tables[RECORDING_CGROUP].n > 0,
                                 [SOURCE_OPERATORS] = has_operators(model->recording),
                                 [SOURCE_CALIBRATION] =
                                     series_named(&tables[RECORDING_SELF], -1, "core"),
                                 [SOURCE_CLOCKS] = has_path && tables[RECORDING_WAIT].n > 0};
    unsigned sources = 0;
    for (int s = 0; s < SOURCE_COUNT_; s++)
        sources |= there[s] ? 1u << s : 0;
    return model->judge ? sources & ~model->judge->sources_off : sources;
}

static int observe(struct run_model *model) {
    struct observed *o = &model->observed;
    o->sources = sources_of(model);
    o->path = o->sources >> SOURCE_CALLS & 1 || o->sources >> SOURCE_WAITS & 1;
    o->freely = o->sources >> SOURCE_CALLS & 1 && runs_freely(model);
    o->shares_cores = calloc(model->n_hosts + 1, sizeof *o->shares_cores);
    for (size_t h = 0; o->shares_cores && h < model->n_hosts; h++)
        for (size_t k = 0; k < model->n_hosts && !o->shares_cores[h]; k++)
            o->shares_cores[h] = h != k && model_shares_machine(model, (int)h, (int)k);
    return o->shares_cores ? 0 : -ENOMEM;
}

int model_build(const struct recording *recording, struct run_model *ret_model) {
    struct run_model model = {.recording = recording, .judge = recording->judge};
    int result = build_hosts(&model);
    if (result == 0)
        result = iterations_find(recording, &model.iterations);
    if (result == 0)
        result = find_phases(&model);
    if (result == 0)
        result = phase_groups_make(model.phases, model.n_phases, recording->duration_ns,
                                   model.judge, &model.groups, &model.n_groups);
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
