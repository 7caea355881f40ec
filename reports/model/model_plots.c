/* SPDX-License-Identifier: MIT */
/* Series over time: metrics and cores of each host, iterations by rank, marked values. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/gpu_use.h"
#include "analysis/facts/series/stats.h"
#include "common/error.h"
#include "reports/model/model_private.h"

static int series_init(struct report_series *series, const char *label, size_t n) {
    *series = (struct report_series){.label = strdup(label),
                                     .n = n,
                                     .t_s = calloc(n + 1, sizeof(double)),
                                     .value = calloc(n + 1, sizeof(double))};
    return series->label && series->t_s && series->value ? 0 : -ENOMEM;
}

/* The kernel counts the pressure of some time in the next interval: the plot is cut at all of the
 * time. */
static bool is_pressure(enum metric metric) {
    return metric == METRIC_PSI_CPU || metric == METRIC_PSI_IO || metric == METRIC_PSI_MEMORY;
}

/* A share of a GPU is told as a mean of the time since it was read last, which may be longer than
 * its row.
 */
static bool is_share(enum metric metric) {
    return is_pressure(metric) ||
           (metric_is_of_gpu(metric) && strcmp(metric_unit(metric), "%") == 0);
}

static int fill_metric(struct report_series *series, const struct rate *rate, enum metric metric) {
    int result = series_init(series, metric_name(metric), rate->n);
    for (size_t i = 0; result == 0 && i < rate->n; i++) {
        double value = rate_value(rate, i);
        series->t_s[i] = (double)rate->t_ns[i] / 1e9;
        series->value[i] = is_share(metric) && value > 100 ? 100 : value;
    }
    return result;
}

#define STEPS_MAX 100

/* Periods that a row of a GPU speaks for: a slow driver makes some frames have none. */
static size_t steps_of(const struct rate *rate, size_t i, int64_t period_ns) {
    double steps = period_ns > 0 ? round((double)rate->dt_ns[i] / (double)period_ns) : 1;
    return (size_t)fmin(fmax(steps, 1), STEPS_MAX);
}

/* As fill_metric, with a point for each period: else pictures had gaps. */
static int fill_gpu_metric(struct report_series *series, const struct rate *rate,
                           enum metric metric, const char *label, int64_t period_ns) {
    size_t n = 0;
    for (size_t i = 0; i < rate->n; i++)
        n += steps_of(rate, i, period_ns);
    int result = series_init(series, label, n);
    for (size_t i = 0, at = 0; result == 0 && i < rate->n; i++) {
        double value = rate_value(rate, i), dt_s = (double)rate->dt_ns[i] / 1e9;
        size_t steps = steps_of(rate, i, period_ns);
        for (size_t k = steps; k-- > 0; at++) {
            series->t_s[at] = (double)rate->t_ns[i] / 1e9 - dt_s * (double)k / (double)steps;
            series->value[at] = is_share(metric) && value > 100 ? 100 : value;
        }
    }
    return result;
}

static double core_busy(const struct series_set *set, const struct series *core, size_t row) {
    double all = 0, idle = 0;
    if (core->interval_ns[row] == VALUE_ABSENT)
        return NAN;
    for (size_t c = 0; c < set->n_columns; c++) {
        int64_t value = series_value(set, core, row, c);
        if (value == VALUE_ABSENT)
            continue;
        all += (double)value;
        idle += c == CPU_IDLE || c == CPU_IOWAIT ? (double)value : 0;
    }
    return all > 0 ? 100 * (all - idle) / all : NAN;
}

static int fill_core(struct report_series *series, const struct series_set *set,
                     const struct series *core) {
    int result = series_init(series, core->name, core->n);
    for (size_t i = 0; result == 0 && i < core->n; i++) {
        series->t_s[i] = (double)core->t_ns[i] / 1e9;
        series->value[i] = core_busy(set, core, i);
    }
    return result;
}

static int fill_cores(struct report_host_series *to, const struct run_model *model, int host) {
    const struct series_set *set = &model->recording->tables[RECORDING_CPU];
    int result = 0;
    to->cores = calloc(set->n + 1, sizeof *to->cores);
    if (!to->cores)
        return -ENOMEM;
    for (size_t s = 0; result == 0 && s < set->n; s++)
        if (set->items[s].host == host)
            result = fill_core(&to->cores[to->n_cores++], set, &set->items[s]);
    return result;
}

/* Raises the values of a GPU to a share of what it has of something; they have the same times. */
static int raise_gpu(struct report_series *series, const struct run_model *model,
                     const struct series *gpu, enum metric metric, double most) {
    struct report_series share = {0};
    struct rate rate;
    if (!(most > 0)) /* its link is not known */
        return 0;
    int result = metric_rate_of(model->recording, gpu->host, metric, gpu->name, &rate);
    if (result < 0)
        return result;
    result = fill_gpu_metric(&share, &rate, metric, gpu->name, model->recording->period_ns);
    rate_release(&rate);
    for (size_t i = 0; result == 0 && i < series->n && i < share.n; i++)
        series->value[i] = fmax(series->value[i], fmin(100, 100 * share.value[i] / most));
    free(share.label);
    free(share.t_s);
    free(share.value);
    return result;
}

static bool knows_any(const struct report_series *series) {
    for (size_t i = 0; i < series->n; i++)
        if (!isnan(series->value[i]))
            return true;
    return false;
}

/* How full a GPU was: the fullest of its multiprocessors, its memory's bandwidth and its link; of
 * one that tells none of these, the time with any work on it.
 */
static int fill_gpu(struct report_series *series, const struct run_model *model,
                    const struct series *gpu) {
    struct gpu_use use = {.gpu = gpu, .device = gpu_device_of(model, gpu)};
    double link = gpu_pcie_ceiling(model, &use) / 1e6;
    const struct {
        enum metric metric;
        double most;
    } parts[] = {{METRIC_GPU_DRAM, 100}, {METRIC_GPU_TO, link}, {METRIC_GPU_FROM, link}};
    struct rate rate;
    int result = metric_rate_of(model->recording, gpu->host, METRIC_GPU_SM, gpu->name, &rate);
    if (result < 0)
        return result;
    result = fill_gpu_metric(series, &rate, METRIC_GPU_SM, gpu->name, model->recording->period_ns);
    rate_release(&rate);
    if (result == 0 && !knows_any(series))
        return raise_gpu(series, model, gpu, METRIC_GPU_BUSY, 100);
    for (size_t i = 0; result == 0 && i < ARRAY_SIZE(parts); i++)
        result = raise_gpu(series, model, gpu, parts[i].metric, parts[i].most);
    return result;
}

static int fill_gpus(struct report_host_series *to, const struct run_model *model, int host) {
    const struct series_set *set = &model->recording->tables[RECORDING_GPU];
    int result = 0;
    to->gpus = calloc(set->n + 1, sizeof *to->gpus);
    if (!to->gpus)
        return -ENOMEM;
    for (size_t s = 0; result == 0 && s < set->n; s++)
        if (set->items[s].host == host)
            result = fill_gpu(&to->gpus[to->n_gpus++], model, &set->items[s]);
    return result;
}

/* A limit that was exceeded is not a ceiling. */
static void fill_ceilings(struct report_host_series *to, const struct run_model *model, int host) {
    static const enum metric links[] = {METRIC_NET_SEND, METRIC_NET_RECV},
                             disks[] = {METRIC_DISK_READ, METRIC_DISK_WRITE};
    for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
        struct report_ceiling *ceiling = &to->ceilings[links[i]];
        ceiling->known = network_rate_of(model, host, links[i], 0, &ceiling->value);
    }
    for (size_t i = 0; i < ARRAY_SIZE(disks); i++) {
        double measured = recording_ceiling(model->recording, host, disks[i]);
        if (!isnan(measured))
            to->ceilings[disks[i]] = (struct report_ceiling){measured, ARITHMETIC_MEASURED};
    }
}

/* Hosts of one machine get the number of its first host. */
static size_t machine_of(const struct run_model *model, int host) {
    int first = 0;
    if (!model_shares_cores(model, host))
        return 0;
    while (first != host && !model_shares_machine(model, first, host))
        first++;
    return (size_t)first + 1;
}

static int fill_host_series(struct report *report, const struct run_model *model) {
    report->series = calloc(model->n_hosts + 1, sizeof *report->series);
    int result = report->series ? 0 : -ENOMEM;
    for (size_t h = 0; h < model->n_hosts; h++) {
        for (int m = 0; result == 0 && m < METRIC_COUNT_; m++)
            result = metric_is_of_gpu((enum metric)m)
                         ? fill_gpu_metric(&report->series[h].metrics[m],
                                           &model->hosts[h].metrics[m], (enum metric)m,
                                           metric_name((enum metric)m), model->recording->period_ns)
                         : fill_metric(&report->series[h].metrics[m], &model->hosts[h].metrics[m],
                                       (enum metric)m);
        if (result == 0)
            result = fill_cores(&report->series[h], model, (int)h);
        if (result == 0)
            result = fill_gpus(&report->series[h], model, (int)h);
        if (result == 0)
            fill_ceilings(&report->series[h], model, (int)h);
        report->hosts[h].machine = machine_of(model, (int)h);
    }
    return result;
}

/* ---- iterations ---- */

static int fill_rank(struct report_rank *to, const struct run_model *model, size_t at) {
    const struct rank_iterations *from = &model->iterations.ranks[at];
    *to = (struct report_rank){.rank = from->rank,
                               .host = from->host,
                               .role = strdup(report_role_name(model, from->role)),
                               .n = from->n,
                               .end_s = calloc(from->n + 1, sizeof(double)),
                               .duration_s = calloc(from->n + 1, sizeof(double))};
    if (!to->role || !to->end_s || !to->duration_s)
        return -ENOMEM;
    for (size_t i = 0; i < from->n; i++) {
        to->end_s[i] = (double)from->items[i].end_ns / 1e9;
        to->duration_s[i] = (double)from->items[i].duration_ns / 1e9;
    }
    to->median_s = stats_median(to->duration_s, to->n);
    to->p95_s = stats_quantile(to->duration_s, to->n, 0.95);
    return 0;
}

static int fill_ranks(struct report *report, const struct run_model *model) {
    const struct iterations *iterations = &model->iterations;
    int result = 0;
    report->ranks_in_step = iterations->lockstep;
    report->ranks = calloc(iterations->n + 1, sizeof *report->ranks);
    if (!report->ranks)
        return -ENOMEM;
    for (size_t r = 0; result == 0 && r < iterations->n; r++)
        result = fill_rank(&report->ranks[report->n_ranks++], model, r);
    return result;
}

/* ---- values the program marked ---- */

static int compare_values(const void *a, const void *b) {
    const struct mark *x = *(const struct mark *const *)a, *y = *(const struct mark *const *)b;
    int names = strcmp(x->name, y->name);
    if (names)
        return names;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static bool same_curve(const struct mark *a, const struct mark *b) {
    return strcmp(a->name, b->name) == 0 && a->rank == b->rank && a->pid == b->pid;
}

static int fill_curve(struct report_curve *curve, const struct mark *const *marks, size_t n) {
    *curve = (struct report_curve){.name = strdup(marks[0]->name),
                                   .rank = marks[0]->rank,
                                   .n = n,
                                   .t_s = calloc(n, sizeof(double)),
                                   .iteration = calloc(n, sizeof(double)),
                                   .value = calloc(n, sizeof(double))};
    if (!curve->name || !curve->t_s || !curve->iteration || !curve->value)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct mark *m = marks[i];
        curve->t_s[i] = (double)m->start_ns / 1e9;
        curve->iteration[i] = m->number == VALUE_ABSENT || m->number < 0 ? NAN : (double)m->number;
        curve->value[i] = m->value_nano == VALUE_ABSENT ? NAN : (double)m->value_nano / 1e9;
    }
    return 0;
}

static int fill_curves(struct report *report, const struct run_model *model) {
    const struct recording *recording = model->recording;
    const struct mark **marks = calloc(recording->n_marks + 1, sizeof *marks);
    report->curves = calloc(recording->n_marks + 1, sizeof *report->curves);
    int result = marks && report->curves ? 0 : -ENOMEM;
    size_t n = 0, next;
    for (size_t i = 0; result == 0 && i < recording->n_marks; i++)
        if (recording->marks[i].kind == MARK_VALUE)
            marks[n++] = &recording->marks[i];
    if (result == 0 && n)
        qsort(marks, n, sizeof *marks, compare_values);
    for (size_t i = 0; result == 0 && i < n; i = next) {
        for (next = i + 1; next < n && same_curve(marks[i], marks[next]); next++)
            ;
        result = fill_curve(&report->curves[report->n_curves++], marks + i, next - i);
    }
    free(marks);
    return result;
}

int report_fill_plots(struct report *report, const struct run_model *model) {
    int result = fill_host_series(report, model);
    if (result == 0)
        result = fill_ranks(report, model);
    if (result == 0)
        result = fill_curves(report, model);
    return result;
}
