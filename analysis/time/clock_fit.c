/* SPDX-License-Identifier: MIT */
/*
 * Clocks that ran in slices tell how time is divided, and only of the slices. The kernel counts how
 * long the threads of a process ran, all of the time: at least one of them ran for their sum over
 * the number that ran at once, and for no longer than the sum. The slices tell that number, which
 * is at most that of the cores that they can use. The clock of computing is brought between these
 * bounds, and the others share the rest as they did before.
 *
 * The counters are read less often than the clocks, so a row of them is fit as a whole.
 */
#include <math.h>

#include "analysis/facts/series/times.h"
#include "analysis/time/process_waits.h"

#define JITTER 0.02         /* of a row: the two are not read at one instant */
#define CLOCKED_RUN_MIN 0.9 /* of the counted CPU time: whole clocks may begin a moment late */

static double cores_of(const struct recording *recording, int host) {
    const struct series_set *set = &recording->tables[RECORDING_CPU];
    double n = 0;
    for (size_t s = 0; s < set->n; s++)
        n += set->items[s].host == host && set->items[s].key.core != KEY_ALL_CORES;
    return n > 0 ? n : INFINITY;
}

/* Without what its threads burnt while they polled a GPU, which may be all of their waits for it.
 */
static double cpu_in(const struct process_waits *waits, struct windows windows) {
    const struct series_set *set = &waits->recording->tables[RECORDING_PROCESS];
    double polled = process_waits_clock(waits, WAIT_NS_GPU, windows) +
                    process_waits_clock(waits, WAIT_NS_COPY_TO_GPU, windows) +
                    process_waits_clock(waits, WAIT_NS_COPY_FROM_GPU, windows);
    double cpu = process_waits_growth(set, waits->counted, PROCESS_USER, windows) +
                 process_waits_growth(set, waits->counted, PROCESS_SYSTEM, windows);
    return polled > 0 ? fmax(cpu - polled, process_waits_clock(waits, WAIT_NS_RUN, windows)) : cpu;
}

/* Whether the clocks ran in slices: a pause has ended, or they miss computing that was counted. */
static bool is_sliced(const struct process_waits *waits) {
    struct window all = {-TIME_SANE_NS, TIME_SANE_NS};
    struct windows windows = {&all, 1};
    return process_waits_clock(waits, WAIT_PROCESS_UNCLOCKED, windows) > 0 ||
           process_waits_clock(waits, WAIT_NS_RUN, windows) <
               CLOCKED_RUN_MIN * cpu_in(waits, windows);
}

/* Threads that ran at once, while any did. */
static double at_once(const struct process_waits *waits) {
    struct window all = {-TIME_SANE_NS, TIME_SANE_NS};
    double threads = process_waits_clock(waits, WAIT_NS_RUN, (struct windows){&all, 1});
    double any = process_waits_clock(waits, WAIT_PROCESS_RUN, (struct windows){&all, 1});
    return any > 0 ? fmax(1, threads / any) : INFINITY;
}

void clock_fit_find(int host, int64_t pid, struct process_waits *waits) {
    const struct series_set *set = &waits->recording->tables[RECORDING_PROCESS];
    waits->counted = series_of_pid(set, host, PROCESS_PID, pid);
    if (!waits->counted)
        return;
    int64_t threads = series_last(set, waits->counted, PROCESS_THREADS);
    waits->cores = fmin(cores_of(waits->recording, host), threads > 1 ? (double)threads : 1);
    waits->cores = fmin(waits->cores, at_once(waits));
    if (!is_sliced(waits))
        waits->counted = NULL;
}

/* The rows of the counters that the windows touch, from the first one's begin to the last one's
 * end.
 */
static struct window rows_around(const struct series *counted, struct windows windows) {
    struct window wide = {windows.items[0].begin_ns, windows.items[windows.n - 1].end_ns};
    size_t first = times_until(counted->t_ns, sizeof *counted->t_ns, counted->n, wide.begin_ns);
    for (size_t i = first; i < counted->n; i++) {
        int64_t dt = counted->interval_ns[i], begin = counted->t_ns[i] - dt;
        if (dt == VALUE_ABSENT || begin >= wide.end_ns)
            continue;
        wide.begin_ns = begin < wide.begin_ns ? begin : wide.begin_ns;
        if (counted->t_ns[i] >= wide.end_ns) {
            wide.end_ns = counted->t_ns[i];
            break;
        }
    }
    return wide;
}

static void scale(struct process_time *t, double run, double rest) {
    double *others[] = {&t->runnable, &t->disk,   &t->fault, &t->stopped, &t->gpu,
                        &t->gpu_copy, &t->asleep, &t->send,  &t->peer,    &t->polled_room};
    t->run *= run;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        *others[i] *= rest;
    for (int kind = 0; kind < WAIT_KIND_COUNT_; kind++)
        t->pool[kind] *= rest;
}

struct process_time clock_fit(const struct process_waits *waits, struct windows windows,
                              struct process_time time) {
    struct window row = windows.n ? rows_around(waits->counted, windows) : (struct window){0, 0};
    struct windows rows = {&row, 1};
    struct process_time all = process_waits_told(waits, rows);
    double sum = process_time_sum(&all), own = process_time_sum(&time);
    double length = (double)windows_length(rows), part = length > 0 ? fmin(1, sum / length) : 0;
    double cpu = cpu_in(waits, rows) * part;
    double run = fmin(fmax(all.run, fmin(cpu / waits->cores, sum)), fmin(cpu, sum));
    if (!(cpu > 0) || !(all.run > 0) || fabs(run - all.run) <= JITTER * sum)
        return time;
    scale(&time, run / all.run, sum > all.run ? (sum - run) / (sum - all.run) : 1);
    double now = process_time_sum(&time);
    scale(&time, now > 0 ? own / now : 1, now > 0 ? own / now : 1);
    return time;
}
