/* SPDX-License-Identifier: MIT */
/*
 * Tells a slower core from more work. Agents do the same work on every host in each sample, and
 * record its CPU time: a canary at no cost. If they need more of it on a rank's host, too, the
 * rank's larger CPU time need not be more work.
 *
 * A piece of arithmetic, the same on all hosts (agent/sampler/core_speed.h), slows down as a rank's
 * computing does, and counts as it is. Older recordings have only the cost of sampling, which
 * notices caches that others fill. Two figures of it must agree, and the smaller counts: all of the
 * agent's work (more if it has more processes to look at), and reading what is the same on all
 * hosts of a kind. More cores cost both more, and so does a probe that only one host has, so only
 * hosts with as many cores and the same probes are compared. Both figures vary less than a rank's
 * computing, since they wait for kernel memory most of the time: over 58 clean runs of six programs
 * on two cores of varying speed, CPU time of ranks followed the powers below. Between hosts of
 * different makes neither figure tells about the program's work, so none is used.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/computed.h"
#include "analysis/evidence/cores.h"
#include "analysis/facts/series/stats.h"
#include "analysis/number.h"

#define AGENT_POWER 1.6
#define FIXED_POWER 3.2
#define CORE_ROWS_MIN 2  /* rows, of one to many samples each */
#define SAMPLES_LEAST 20 /* samples of a host in the group */
/* Beyond this ratio more work is likelier than a slower core of the same kind, even if all
 * operators take longer.
 */
#define OPERATORS_MAX 1.5

/* They cost the same on all hosts of a kind, whatever runs there. */
static const enum table_id fixed_probes[] = {TABLE_CPU,    TABLE_MEMORY, TABLE_PSI,
                                             TABLE_VMSTAT, TABLE_DISK,   TABLE_NET};
#define FIXED_PROBES (sizeof fixed_probes / sizeof *fixed_probes)

/* CPU time of a sample, ns; NAN if too few samples lie in the windows. */
struct cost {
    double calibration, agent, fixed[FIXED_PROBES];
};

/* A median or mean of the CPU time of a sample, over rows whose middle lies in the windows. */
static double cost_of_one(const struct series_set *set, const struct series *series,
                          struct windows windows, double (*middle)(const double *, size_t)) {
    double *costs = malloc((series->n + 1) * sizeof *costs), samples = 0;
    size_t n = 0;
    for (size_t row = 0; costs && row < series->n; row++) {
        int64_t cpu = series_value(set, series, row, SELF_CPU);
        int64_t count = series_value(set, series, row, SELF_SAMPLES);
        int64_t interval = series->interval_ns[row];
        if (interval == VALUE_ABSENT || cpu == VALUE_ABSENT || count == VALUE_ABSENT || cpu <= 0 ||
            count <= 0 || !windows_hold(windows, series->t_ns[row] - interval / 2))
            continue;
        costs[n++] = (double)cpu / (double)count;
        samples += (double)count;
    }
    double cost = n >= CORE_ROWS_MIN && samples >= SAMPLES_LEAST ? middle(costs, n) : NAN;
    free(costs);
    return cost;
}

/* Interruptions do not show a core's speed. So probes count by the median of the rows, and the
 * calibration loop (the shorter of two in a row) by the mean, since a core may be slow for a part
 * of the time.
 */
static struct cost cost_of(const struct run_model *model, int host, struct windows windows) {
    const struct series_set *set = &model->recording->tables[RECORDING_SELF];
    struct series_range range = series_set_of_host(set, host);
    struct cost cost = {.calibration = NAN, .agent = NAN};
    for (size_t i = 0; i < FIXED_PROBES; i++)
        cost.fixed[i] = NAN;
    for (size_t s = range.begin; s < range.end; s++) {
        const struct series *series = &set->items[s];
        if (series->host != host)
            continue;
        if (strcmp(series->name, "core") == 0)
            cost.calibration = cost_of_one(set, series, windows, stats_mean);
        if (strcmp(series->name, "agent") == 0)
            cost.agent = cost_of_one(set, series, windows, stats_median);
        for (size_t i = 0; i < FIXED_PROBES; i++)
            if (strcmp(series->name, all_tables[fixed_probes[i]].name) == 0)
                cost.fixed[i] = cost_of_one(set, series, windows, stats_median);
    }
    return cost;
}

double core_calibration_ns(const struct run_model *model, int host, struct windows windows) {
    const struct series_set *set = &model->recording->tables[RECORDING_SELF];
    const struct series *core =
        model_shares_cores(model, host) ? NULL : series_named(set, host, "core");
    return core ? cost_of_one(set, core, windows, stats_mean) : NAN;
}

static bool has_rank(const struct run_model *model, int host) {
    for (size_t r = 0; r < model->budgets.n; r++)
        if (model->budgets.items[r].host == host)
            return true;
    return false;
}

/* The sum of all fixed probes that were recorded; NAN if none was. */
static double fixed_of(const struct cost *cost) {
    double sum = NAN;
    for (size_t i = 0; i < FIXED_PROBES; i++)
        if (!isnan(cost->fixed[i]))
            sum = (isnan(sum) ? 0 : sum) + cost->fixed[i];
    return sum;
}

/* Whether hosts are of one make, if known: more cores or probes raise either figure. */
static bool are_alike(const struct run_model *model, const struct cost *costs, int a, int b) {
    for (size_t i = 0; i < FIXED_PROBES; i++)
        if (isnan(costs[a].fixed[i]) != isnan(costs[b].fixed[i]))
            return false;
    return model->hosts[a].n_cpus == model->hosts[b].n_cpus;
}

static struct core_speed by_sampling(double slower, double sampling) {
    return (struct core_speed){.slower = slower,
                               .sampling = sampling,
                               .calibration = NAN,
                               .operators = NAN,
                               .at_best = NAN,
                               .amount = NAN,
                               .more = NAN};
}

/* By sampling: compares with the medians over similar other hosts of the job; room holds two
 * numbers for each host.
 */
static struct core_speed compare_sampling(const struct run_model *model, const struct cost *costs,
                                          int host, double *room) {
    double *agents = room, *all_fixed = room + model->n_hosts;
    size_t n = 0;
    for (int h = 0; h < (int)model->n_hosts; h++) {
        double sum = fixed_of(&costs[h]);
        if (h == host || isnan(costs[h].agent) || isnan(sum) || !has_rank(model, h) ||
            !are_alike(model, costs, host, h))
            continue;
        agents[n] = costs[h].agent;
        all_fixed[n++] = sum;
    }
    double agent = costs[host].agent / stats_median(agents, n);
    double fixed = fixed_of(&costs[host]) / stats_median(all_fixed, n);
    double slower = fmin(pow(agent, AGENT_POWER), pow(fixed, FIXED_POWER));
    if (!isfinite(agent) || !isfinite(fixed) || model_shares_cores(model, host))
        return by_sampling(1, NAN);
    if (slower < number_of(model, CORE_SLOWER))
        return by_sampling(1, fmin(agent, fixed));
    return by_sampling(slower, agent);
}

/* The host's calibration over the median of the job's other hosts; room holds one number for each
 * host. The number of cores and probes does not matter. NAN if not known.
 */
static double calibration_beside(const struct run_model *model, const struct cost *costs, int host,
                                 double *room) {
    size_t n = 0;
    for (int h = 0; h < (int)model->n_hosts; h++)
        if (h != host && !isnan(costs[h].calibration) && has_rank(model, h))
            room[n++] = costs[h].calibration;
    return model_shares_cores(model, host) ? NAN : costs[host].calibration / stats_median(room, n);
}

static struct core_speed with_calibration(const struct run_model *model, struct core_speed core,
                                          double calibration) {
    core.calibration = calibration;
    core.by_calibration = calibration >= number_of(model, CORE_SLOWER) && calibration > core.slower;
    if (core.by_calibration)
        core.slower = calibration;
    return core;
}

static struct core_speed with_operators(const struct run_model *model, struct core_speed core,
                                        struct operator_work work) {
    core.operators = work.byte_time;
    core.amount = work.amount;
    core.more = work.more;
    core.by_operators =
        work.byte_time >= number_of(model, CORE_SLOWER) && work.byte_time > core.slower;
    if (core.by_operators)
        core.slower = fmin(work.byte_time, OPERATORS_MAX);
    return core;
}

struct core_speed *core_speeds_of(const struct run_model *model, size_t group) {
    struct windows windows = phase_windows(&model->groups[group]);
    size_t n = model->n_hosts;
    struct core_speed *speeds = malloc((n + 1) * sizeof *speeds);
    struct cost *costs = malloc((n + 1) * sizeof *costs);
    double *room = malloc((2 * n + 1) * sizeof *room);
    struct operator_work *works = operator_works_of(model, group);
    bool all = speeds && costs && room && works;
    for (int h = 0; all && h < (int)n; h++)
        costs[h] = cost_of(model, h, windows);
    for (int h = 0; all && h < (int)n; h++)
        speeds[h] = with_operators(model,
                                   with_calibration(model, compare_sampling(model, costs, h, room),
                                                    calibration_beside(model, costs, h, room)),
                                   works[h]);
    if (!all) {
        free(speeds);
        speeds = NULL;
    }
    free(costs);
    free(room);
    free(works);
    return speeds;
}

bool core_has_more_to_do(const struct run_model *model, const struct core_speed *core) {
    return core->more >= 1 - 1 / number_of(model, SKEW_RATIO);
}
