/* SPDX-License-Identifier: MIT */
/*
 * How full each resource was in each span of time: the CPU's busy share, the share of a link's or
 * disk's ceiling, or the share of memory in use. The highest observed rate is no ceiling, so it
 * never makes a link full. If a control group may use less than the host has, the share of that
 * counts. The picture asks for means of equal spans of time, its caption for single samples: a mean
 * of several is seldom full.
 */
#include <math.h>

#include "reports/plot/gnuplot.h"
#include "reports/plot/heat.h"
#include "reports/plot/map_private.h"

/* The times of n <= MAP_BINS_MAX values: spans of equal length, or the samples at t_s. */
struct grid {
    double end_s;
    const double *t_s; /* NULL: spans */
    size_t n;
};

#define SAME_S 1e-3 /* samples of one frame */

/* The first sample that is not before a time. */
static size_t first_from(const struct report_series *series, double t_s) {
    size_t low = 0, high = series->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (series->t_s[middle] < t_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_samples(const struct report_series *series, const struct grid *grid,
                        double *values) {
    size_t at = grid->n ? first_from(series, grid->t_s[0] - SAME_S) : 0;
    for (size_t i = 0; i < grid->n; i++) {
        while (at < series->n && series->t_s[at] < grid->t_s[i] - SAME_S)
            at++;
        bool known = at < series->n && series->t_s[at] <= grid->t_s[i] + SAME_S;
        values[i] += known ? series->value[at] : NAN;
    }
}

static void read_series(const struct report_series *series, const struct grid *grid,
                        double *values) {
    for (size_t i = 0; i < grid->n; i++)
        values[i] = 0;
    if (grid->t_s)
        add_samples(series, grid, values);
    else
        series_add_bin_means(series, grid->end_s, values, grid->n);
}

static void means_of(const struct report *report, size_t host, enum metric metric,
                     const struct grid *grid, double *values) {
    read_series(&report->series[host].metrics[metric], grid, values);
}

/* Raises values to a share of a ceiling. */
static void raise_to_share(const struct report *report, size_t host, enum metric metric,
                           const struct grid *grid, double *values) {
    const struct report_ceiling *ceiling = &report->series[host].ceilings[metric];
    double rates[MAP_BINS_MAX],
        most = ceiling->known == ARITHMETIC_SEEN ? MAP_FULL - 1e-6 : INFINITY;
    if (!(ceiling->value > 0))
        return;
    means_of(report, host, metric, grid, rates);
    for (size_t i = 0; i < grid->n; i++)
        if (!isnan(rates[i]))
            values[i] = fmax(values[i], fmin(rates[i] / ceiling->value, most));
}

static void fill_memory(const struct report *report, size_t host, const struct grid *grid,
                        double *values) {
    double left[MAP_BINS_MAX];
    means_of(report, host, METRIC_MEM_USED, grid, values);
    means_of(report, host, METRIC_MEM_FREE, grid, left);
    for (size_t i = 0; i < grid->n; i++)
        values[i] /= values[i] + left[i];
}

static void fill_percent(const struct report *report, size_t host, enum metric metric,
                         const struct grid *grid, double *values) {
    means_of(report, host, metric, grid, values);
    for (size_t i = 0; i < grid->n; i++)
        values[i] /= 100;
}

/* The mean of multiprocessors stands for many GPUs. */
static void fill_gpu(const struct report *report, size_t host, size_t gpu, const struct grid *grid,
                     double *values) {
    const struct report_host_series *of = &report->series[host];
    if (of->n_gpus > MAP_GPUS_MAX) {
        bool told = of->metrics[METRIC_GPU_SM].n > 0;
        fill_percent(report, host, told ? METRIC_GPU_SM : METRIC_GPU_BUSY, grid, values);
        return;
    }
    read_series(&of->gpus[gpu], grid, values);
    for (size_t i = 0; i < grid->n; i++)
        values[i] /= 100;
}

static void fill_busy(const struct report *report, size_t host, const struct grid *grid,
                      double *values) {
    fill_percent(report, host, METRIC_CPU_IDLE, grid, values);
    for (size_t i = 0; i < grid->n; i++)
        values[i] = 1 - values[i];
}

const struct report_series *map_allowance(const struct report *report, size_t host,
                                          size_t resource) {
    static const enum report_allowance of[MAP_RESOURCES] = {[MAP_CPU] = ALLOWANCE_CPU,
                                                            [MAP_CORE] = ALLOWANCES,
                                                            [MAP_NETWORK] = ALLOWANCES,
                                                            [MAP_DISK] = ALLOWANCE_DISK,
                                                            [MAP_MEMORY] = ALLOWANCE_MEMORY};
    const struct report_series *found = resource < MAP_RESOURCES && of[resource] < ALLOWANCES
                                            ? &report->series[host].allowances[of[resource]]
                                            : NULL;
    return found && found->n ? found : NULL;
}

static void raise_to_allowance(const struct report *report, size_t host, size_t resource,
                               const struct grid *grid, double *values) {
    const struct report_series *allowance = map_allowance(report, host, resource);
    double used[MAP_BINS_MAX];
    if (!allowance)
        return;
    read_series(allowance, grid, used);
    for (size_t i = 0; i < grid->n; i++)
        values[i] = fmax(values[i], used[i]);
}

static void fill_grid(const struct report *report, size_t host, size_t resource,
                      const struct grid *grid, double *values) {
    for (size_t i = 0; i < grid->n; i++)
        values[i] = NAN;
    if (resource == MAP_CPU) {
        fill_busy(report, host, grid, values);
    } else if (resource == MAP_CORE) {
        fill_percent(report, host, METRIC_CPU_CORE_MAX, grid, values);
    } else if (resource == MAP_NETWORK) {
        raise_to_share(report, host, METRIC_NET_SEND, grid, values);
        raise_to_share(report, host, METRIC_NET_RECV, grid, values);
    } else if (resource == MAP_DISK) {
        fill_percent(report, host, METRIC_DISK_BUSY, grid, values);
        raise_to_share(report, host, METRIC_DISK_READ, grid, values);
        raise_to_share(report, host, METRIC_DISK_WRITE, grid, values);
    } else if (resource >= MAP_GPU) {
        fill_gpu(report, host, resource - MAP_GPU, grid, values);
    } else {
        fill_memory(report, host, grid, values);
    }
    raise_to_allowance(report, host, resource, grid, values);
}

void map_fill(const struct report *report, size_t host, size_t resource, double *values, size_t n) {
    fill_grid(report, host, resource, &(struct grid){report_end_s(report), NULL, n}, values);
}

/* The samples of the resource: those of the series that its value is made of. */
static const struct report_series *samples_of(const struct report *report, size_t host,
                                              size_t resource) {
    static const enum metric of[MAP_RESOURCES] = {[MAP_CPU] = METRIC_CPU_IDLE,
                                                  [MAP_CORE] = METRIC_CPU_CORE_MAX,
                                                  [MAP_NETWORK] = METRIC_NET_SEND,
                                                  [MAP_DISK] = METRIC_DISK_BUSY,
                                                  [MAP_MEMORY] = METRIC_MEM_USED};
    const struct report_host_series *series = &report->series[host];
    if (resource < MAP_RESOURCES)
        return &series->metrics[of[resource]];
    if (series->n_gpus <= MAP_GPUS_MAX)
        return &series->gpus[resource - MAP_GPU];
    return &series->metrics[series->metrics[METRIC_GPU_SM].n ? METRIC_GPU_SM : METRIC_GPU_BUSY];
}

static void add_value(struct map_use *use, double value) {
    if (isnan(value))
        return;
    use->n++;
    use->full += map_level(value) == MAP_LEVELS;
    use->mean += value;
}

static struct map_use shares_of(struct map_use sums) {
    sums.full /= sums.n ? (double)sums.n : 1;
    sums.mean = sums.n ? sums.mean / (double)sums.n : NAN;
    return sums;
}

struct map_use map_use_of(const struct report *report, size_t host, size_t resource) {
    const struct report_series *samples = samples_of(report, host, resource);
    struct map_use use = {0};
    double values[MAP_BINS_MAX];
    for (size_t i = 0; i < samples->n; i += MAP_BINS_MAX) {
        size_t n = samples->n - i < MAP_BINS_MAX ? samples->n - i : MAP_BINS_MAX;
        fill_grid(report, host, resource, &(struct grid){report_end_s(report), samples->t_s + i, n},
                  values);
        for (size_t k = 0; k < n; k++)
            add_value(&use, values[k]);
    }
    return shares_of(use);
}

struct map_use map_use_of_values(const double *values, size_t n) {
    struct map_use use = {0};
    for (size_t i = 0; i < n; i++)
        add_value(&use, values[i]);
    return shares_of(use);
}

/* Each host counts its own use; if a host counts that of all, the sum is at most all cores. */
void map_fill_machine(const struct report *report, size_t machine, double *values, size_t n) {
    const struct grid grid = {report_end_s(report), NULL, n};
    double cores = 0, busy[MAP_BINS_MAX];
    for (size_t i = 0; i < n; i++)
        values[i] = 0;
    for (size_t h = 0; h < report->n_hosts; h++) {
        if (report->hosts[h].machine != machine)
            continue;
        fill_busy(report, h, &grid, busy);
        cores = fmax(cores, report->hosts[h].n_cpus);
        for (size_t i = 0; i < n; i++)
            values[i] += isnan(busy[i]) ? 0 : busy[i] * report->hosts[h].n_cpus;
    }
    for (size_t i = 0; i < n; i++)
        values[i] = cores > 0 ? fmin(1, values[i] / cores) : NAN;
}
