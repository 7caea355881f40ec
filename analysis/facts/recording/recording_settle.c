/* SPDX-License-Identifier: MIT */
/*
 * Corrects impossible values. The kernel's clock of a thread's disk waits sometimes begins a wait
 * too early, so that a thread waited 1.5 s in a second. The time that its host lost to I/O (PSI:
 * the time in which any process there waited for it) comes from another clock without that error,
 * and no thread can have waited longer.
 */
#include "analysis/facts/recording/recording.h"

#include <math.h>

#define THREADS_WAITING                                                                            \
    16 /* threads of a process that wait for disks at the same time: their waits                   \
          add up */

/* A wait that was under way when the kernel began to account such delays is counted from the boot
 * of the machine when it ends: hours within one interval.
 */
static void drop_impossible(struct series_set *set, struct series *series, size_t column) {
    for (size_t row = 0; row < series->n; row++) {
        int64_t *waited = &series->values[row * set->n_columns + column];
        int64_t interval = series->interval_ns[row] == VALUE_ABSENT ? 0 : series->interval_ns[row];
        double seen = (double)(series->t_ns[row] - series->t_ns[0]) + (double)interval;
        if (*waited != VALUE_ABSENT && (double)*waited > THREADS_WAITING * seen)
            *waited = VALUE_ABSENT;
    }
}

/* Pressure in that time; time without records counts as pressure. */
static double pressure_ns(const struct series_set *psi, const struct series *pressure,
                          struct window w) {
    int64_t covered;
    double some = series_growth(psi, pressure, PSI_SOME, (struct windows){&w, 1}, &covered);
    return some + (double)(w.end_ns - w.begin_ns - covered);
}

static double waited_ns(const struct series_set *set, const struct series *series, size_t column) {
    double sum = 0;
    for (size_t row = 0; row < series->n; row++) {
        int64_t waited = series_value(set, series, row, column);
        sum += waited != VALUE_ABSENT && waited > 0 ? (double)waited : 0;
    }
    return sum;
}

/* A wait is counted when it ends, in a later row than most of it. So the sum of all rows is
 * compared with the pressure of all their time, including the time before the first row.
 */
static void cut_to_pressure(const struct series_set *psi, struct series_set *set,
                            struct series *series, size_t column) {
    double waited = waited_ns(set, series, column);
    const struct series *pressure = waited > 0 ? series_named(psi, series->host, "io") : NULL;
    if (!pressure)
        return;
    int64_t first = series->interval_ns[0] == VALUE_ABSENT ? 0 : series->interval_ns[0];
    int64_t known = pressure->interval_ns[0] == VALUE_ABSENT ? 0 : pressure->interval_ns[0];
    int64_t begin = series->t_ns[0] - first, recorded = pressure->t_ns[0] - known;
    struct window w = {begin < recorded ? begin : recorded, series->t_ns[series->n - 1]};
    double most = pressure_ns(psi, pressure, w);
    for (size_t row = 0; waited > most && row < series->n; row++) {
        int64_t *at = &series->values[row * set->n_columns + column];
        if (*at != VALUE_ABSENT && *at > 0)
            *at = (int64_t)((double)*at * (most / waited));
    }
}

static void settle(const struct series_set *psi, struct series_set *set, size_t column) {
    for (size_t i = 0; i < set->n; i++) {
        drop_impossible(set, &set->items[i], column);
        cut_to_pressure(psi, set, &set->items[i], column);
    }
}

/* A process of the job does nothing before the command starts or after its own end: a row's
 * interval reaches back to the sample before, and the last row to the sample after its end.
 */
static void fit_job_to_run(struct series_set *set, int64_t duration_ns) {
    for (size_t i = 0; i < set->n; i++) {
        struct series *series = &set->items[i];
        if (!series->n || !series_ever(set, series, PROCESS_JOB, 1))
            continue;
        int64_t *interval = &series->interval_ns[0], *end = &series->t_ns[series->n - 1];
        int64_t before = series->n > 1 ? series->t_ns[series->n - 2] : 0;
        bool has_ended = series_value(set, series, series->n - 1, PROCESS_PEAK_RSS) != VALUE_ABSENT;
        if (*interval != VALUE_ABSENT && series->t_ns[0] > 0 && *interval > series->t_ns[0])
            *interval = series->t_ns[0];
        if (!has_ended || *end <= duration_ns || before >= duration_ns)
            continue;
        int64_t *last = &series->interval_ns[series->n - 1];
        if (*last != VALUE_ABSENT && *last > *end - duration_ns)
            *last -= *end - duration_ns;
        *end = duration_ns;
    }
}

static int64_t clocked_ns(const struct series_set *waits, const struct series *series, size_t row) {
    int64_t sum = 0;
    for (size_t c = WAIT_PROCESS_RUN; c < WAIT_PROCESS_UNCLOCKED; c++) {
        int64_t value = series_value(waits, series, row, c);
        sum += value > 0 && value < TIME_SANE_NS / WAIT_PROCESS_UNCLOCKED ? value : 0;
    }
    return sum;
}

/* The first row of a process that was not seen at once counts its clocks since birth, so they tell
 * its length. A later row has at most the time since the row before.
 */
static void settle_clocks(struct series_set *waits) {
    for (size_t i = 0; i < waits->n; i++) {
        struct series *series = &waits->items[i];
        for (size_t row = 0; row < series->n; row++) {
            int64_t *interval = &series->interval_ns[row];
            int64_t clocked = clocked_ns(waits, series, row);
            int64_t *values = series->values + row * waits->n_columns;
            if (*interval == VALUE_ABSENT || clocked <= *interval)
                continue;
            for (size_t c = WAIT_PROCESS_RUN; row && c < WAIT_PROCESS_UNCLOCKED; c++)
                if (values[c] != VALUE_ABSENT)
                    values[c] = (int64_t)((double)values[c] * (double)*interval / (double)clocked);
            *interval = row ? *interval : clocked;
        }
    }
}

void recording_settle(struct recording *recording) {
    const struct series_set *psi = &recording->tables[RECORDING_PSI];
    fit_job_to_run(&recording->tables[RECORDING_PROCESS], recording->duration_ns);
    settle(psi, &recording->tables[RECORDING_PROCESS], PROCESS_BLOCK_IO);
    settle(psi, &recording->tables[RECORDING_RANK], RANK_BLOCK_IO);
    settle_clocks(&recording->tables[RECORDING_WAIT]);
}
