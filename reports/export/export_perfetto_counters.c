/* SPDX-License-Identifier: MIT */
/*
 * Counters: the metrics of the reports for each host, each core, each process of the job. A value
 * is the mean of an interval and is written at the interval's begin, where a viewer's step begins;
 * a value equal to the last is not written again. The form has no gaps: if nothing was recorded,
 * the step before continues. In a long run a step is the mean of a second.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "analysis/facts/recording/metric.h"
#include "analysis/facts/series/rate.h"
#include "reports/export/export_perfetto.h"

struct counter {
    struct perfetto *p;
    int host;
    char name[PERFETTO_NAME_SIZE + 16];
    const char *unit;
    double last;               /* last written value; NAN before the first */
    int64_t start_ns, span_ns; /* of the present step */
    double sum;                /* of values times their time */
};

static void write_step(struct counter *counter) {
    if (counter->span_ns <= 0)
        return;
    double value = counter->sum / (double)counter->span_ns;
    if (value != counter->last)
        trace_put_counter(&counter->p->trace, perfetto_pid(counter->host), counter->start_ns,
                          counter->name, counter->unit, value);
    counter->last = value;
    counter->span_ns = 0;
    counter->sum = 0;
}

/* Adds (start, end]: a row shorter than a step is a part of a mean. */
static void put(struct counter *counter, int64_t start_ns, int64_t end_ns, double value) {
    start_ns = start_ns < 0 ? 0 : start_ns;
    if (!isfinite(value) || end_ns <= start_ns)
        return;
    if (counter->span_ns == 0)
        counter->start_ns = start_ns;
    counter->sum += value * (double)(end_ns - start_ns);
    counter->span_ns += end_ns - start_ns;
    if (end_ns - counter->start_ns >= perfetto_step_ns(counter->p))
        write_step(counter);
}

static int put_metric(struct perfetto *p, int host, enum metric metric) {
    struct counter counter = {.p = p, .host = host, .unit = metric_unit(metric), .last = NAN};
    struct rate rate;
    int result = metric_rate(&p->input->recording, host, metric, &rate);
    if (result < 0)
        return result;
    snprintf(counter.name, sizeof counter.name, "%s", metric_name(metric));
    for (size_t i = 0; i < rate.n; i++)
        put(&counter, rate.t_ns[i] - rate.dt_ns[i], rate.t_ns[i], rate_value(&rate, i));
    write_step(&counter);
    rate_release(&rate);
    return 0;
}

/* ---- rows of one instance ---- */

typedef double row_value(const struct series_set *set, const struct series *series, size_t row);

static double core_busy(const struct series_set *set, const struct series *core, size_t row) {
    double all = 0, idle = 0;
    for (size_t c = 0; c < set->n_columns; c++) {
        int64_t value = series_value(set, core, row, c);
        if (value == VALUE_ABSENT)
            continue;
        all += (double)value;
        idle += c == CPU_IDLE || c == CPU_IOWAIT ? (double)value : 0;
    }
    return all > 0 ? 100 * (all - idle) / all : NAN;
}

static double process_cpu(const struct series_set *set, const struct series *process, size_t row) {
    int64_t user = series_value(set, process, row, PROCESS_USER),
            system = series_value(set, process, row, PROCESS_SYSTEM);
    if (user == VALUE_ABSENT || system == VALUE_ABSENT)
        return NAN;
    return 100 * ((double)user + (double)system) / (double)process->interval_ns[row];
}

static double process_memory(const struct series_set *set, const struct series *process,
                             size_t row) {
    int64_t rss = series_value(set, process, row, PROCESS_RSS);
    return rss == VALUE_ABSENT ? NAN : (double)rss / 1e6;
}

static void put_rows(struct perfetto *p, enum recording_table table, const struct series *series,
                     const char *label, const char *what, const char *unit, row_value *value) {
    struct counter counter = {.p = p, .host = series->host, .unit = unit, .last = NAN};
    snprintf(counter.name, sizeof counter.name, "%.*s %s", PERFETTO_NAME_SIZE, label, what);
    for (size_t row = 0; row < series->n; row++)
        if (series->interval_ns[row] != VALUE_ABSENT)
            put(&counter, series->t_ns[row] - series->interval_ns[row], series->t_ns[row],
                value(&p->input->recording.tables[table], series, row));
    write_step(&counter);
}

static void put_process(struct perfetto *p, const struct series *series) {
    const struct series_set *set = &p->input->recording.tables[RECORDING_PROCESS];
    char name[PERFETTO_NAME_SIZE];
    int64_t rank = series_last(set, series, PROCESS_RANK);
    if (!series_ever(set, series, PROCESS_JOB, 1))
        return;
    perfetto_process_name(p, series->host, series_last(set, series, PROCESS_PID),
                          rank < 0 || rank > 1 << 24 ? -1 : (int)rank, name);
    put_rows(p, RECORDING_PROCESS, series, name, "cpu", "%", process_cpu);
    put_rows(p, RECORDING_PROCESS, series, name, "memory", "MB", process_memory);
}

int perfetto_put_counters(struct perfetto *p) {
    const struct recording *recording = &p->input->recording;
    const struct series_set *cores = &recording->tables[RECORDING_CPU],
                            *processes = &recording->tables[RECORDING_PROCESS];
    int result = 0;
    for (size_t h = 0; h < p->input->n_hosts; h++)
        for (int m = 0; result == 0 && m < METRIC_COUNT_; m++)
            if (!metric_is_of_gpu((enum metric)m)) /* each GPU has its tracks */
                result = put_metric(p, (int)h, (enum metric)m);
    for (size_t i = 0; result == 0 && i < cores->n; i++)
        put_rows(p, RECORDING_CPU, &cores->items[i], cores->items[i].name, "busy", "%", core_busy);
    for (size_t i = 0; result == 0 && i < processes->n; i++)
        put_process(p, &processes->items[i]);
    return result;
}
