/* SPDX-License-Identifier: MIT */
/*
 * How full each resource was in each span of time: the CPU's busy share, the share of a link's or
 * disk's ceiling, or the share of memory in use. The highest observed rate is no ceiling, so it
 * never makes a link full. If a control group may use less than the host has, the share of that
 * counts.
 */
#include <math.h>

#include "reports/plot/gnuplot.h"
#include "reports/plot/heat.h"
#include "reports/plot/map_private.h"

static void means_of(const struct report *report, size_t host, enum metric metric, double *values,
                     size_t n) {
    for (size_t i = 0; i < n; i++)
        values[i] = 0;
    series_add_bin_means(&report->series[host].metrics[metric], report_end_s(report), values, n);
}

/* Raises values to a share of a ceiling. */
static void raise_to_share(const struct report *report, size_t host, enum metric metric,
                           double *values, size_t n) {
    const struct report_ceiling *ceiling = &report->series[host].ceilings[metric];
    double rates[MAP_BINS_MAX],
        most = ceiling->known == ARITHMETIC_SEEN ? MAP_FULL - 1e-6 : INFINITY;
    if (!(ceiling->value > 0))
        return;
    means_of(report, host, metric, rates, n);
    for (size_t i = 0; i < n; i++)
        if (!isnan(rates[i]))
            values[i] = fmax(values[i], fmin(rates[i] / ceiling->value, most));
}

static void fill_memory(const struct report *report, size_t host, double *values, size_t n) {
    double left[MAP_BINS_MAX];
    means_of(report, host, METRIC_MEM_USED, values, n);
    means_of(report, host, METRIC_MEM_FREE, left, n);
    for (size_t i = 0; i < n; i++)
        values[i] /= values[i] + left[i];
}

static void fill_percent(const struct report *report, size_t host, enum metric metric,
                         double *values, size_t n) {
    means_of(report, host, metric, values, n);
    for (size_t i = 0; i < n; i++)
        values[i] /= 100;
}

/* The mean of multiprocessors stands for many GPUs. */
static void fill_gpu(const struct report *report, size_t host, size_t gpu, double *values,
                     size_t n) {
    const struct report_host_series *of = &report->series[host];
    if (of->n_gpus > MAP_GPUS_MAX) {
        bool told = of->metrics[METRIC_GPU_SM].n > 0;
        fill_percent(report, host, told ? METRIC_GPU_SM : METRIC_GPU_BUSY, values, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        values[i] = 0;
    series_add_bin_means(&of->gpus[gpu], report_end_s(report), values, n);
    for (size_t i = 0; i < n; i++)
        values[i] /= 100;
}

static void fill_busy(const struct report *report, size_t host, double *values, size_t n) {
    fill_percent(report, host, METRIC_CPU_IDLE, values, n);
    for (size_t i = 0; i < n; i++)
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
                               double *values, size_t n) {
    const struct report_series *allowance = map_allowance(report, host, resource);
    double used[MAP_BINS_MAX] = {0};
    if (!allowance)
        return;
    series_add_bin_means(allowance, report_end_s(report), used, n);
    for (size_t i = 0; i < n; i++)
        values[i] = fmax(values[i], used[i]);
}

void map_fill(const struct report *report, size_t host, size_t resource, double *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        values[i] = NAN;
    if (resource == MAP_CPU) {
        fill_busy(report, host, values, n);
    } else if (resource == MAP_CORE) {
        fill_percent(report, host, METRIC_CPU_CORE_MAX, values, n);
    } else if (resource == MAP_NETWORK) {
        raise_to_share(report, host, METRIC_NET_SEND, values, n);
        raise_to_share(report, host, METRIC_NET_RECV, values, n);
    } else if (resource == MAP_DISK) {
        fill_percent(report, host, METRIC_DISK_BUSY, values, n);
        raise_to_share(report, host, METRIC_DISK_READ, values, n);
        raise_to_share(report, host, METRIC_DISK_WRITE, values, n);
    } else if (resource >= MAP_GPU) {
        fill_gpu(report, host, resource - MAP_GPU, values, n);
    } else {
        fill_memory(report, host, values, n);
    }
    raise_to_allowance(report, host, resource, values, n);
}

/* Each host counts its own use; if a host counts that of all, the sum is at most all cores. */
void map_fill_machine(const struct report *report, size_t machine, double *values, size_t n) {
    double cores = 0, busy[MAP_BINS_MAX];
    for (size_t i = 0; i < n; i++)
        values[i] = 0;
    for (size_t h = 0; h < report->n_hosts; h++) {
        if (report->hosts[h].machine != machine)
            continue;
        fill_busy(report, h, busy, n);
        cores = fmax(cores, report->hosts[h].n_cpus);
        for (size_t i = 0; i < n; i++)
            values[i] += isnan(busy[i]) ? 0 : busy[i] * report->hosts[h].n_cpus;
    }
    for (size_t i = 0; i < n; i++)
        values[i] = cores > 0 ? fmin(1, values[i] / cores) : NAN;
}
