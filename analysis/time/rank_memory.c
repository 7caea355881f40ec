/* SPDX-License-Identifier: MIT */
/*
 * The part of a process's time that was short memory. It counts only while the kernel reports
 * pressure and the process had pages to read back from disk. It consists of the process's disk
 * waits, in the proportion in which processes there read back what had been in memory before, and
 * of the kernel's CPU time for that. (The kernel's pressure leaves out pages that were dropped
 * before their second use, as in a program that cycles through more memory than fits.)
 */
#include <math.h>
#include <string.h>

#include "analysis/facts/series/times.h"
#include "analysis/time/rank_counters_private.h"

double rank_pressure(const struct process_part *p, const char *resource, struct windows w) {
    const struct series_set *set = &p->model->recording->tables[RECORDING_PSI];
    for (size_t s = p->at[RECORDING_PSI].begin; s < p->at[RECORDING_PSI].end; s++)
        if (set->items[s].host == p->host && strcmp(set->items[s].name, resource) == 0)
            return series_growth(set, &set->items[s], PSI_SOME, w, NULL);
    return NAN;
}

struct window rank_row_around(const struct series *series, struct windows w) {
    int64_t t = w.items[w.n - 1].end_ns;
    size_t low = times_until(series->t_ns, sizeof *series->t_ns, series->n - 1, t - 1);
    int64_t dt = series->interval_ns[low];
    return (struct window){series->t_ns[low] - (dt == VALUE_ABSENT ? 0 : dt), series->t_ns[low]};
}

/* The part of the bytes read by the host's processes that had been in memory before; NAN if they
 * read nothing.
 */
static double read_again_share(const struct process_part *p, struct windows w) {
    const struct series_set *set = &p->model->recording->tables[RECORDING_PROCESS];
    struct window row = rank_row_around(p->process->series, w);
    struct windows rows = {&row, 1};
    double read = 0;
    for (size_t i = 0; i < p->model->n_processes; i++)
        if (p->model->processes[i].host == p->host)
            read += series_growth(set, p->model->processes[i].series, PROCESS_READ, rows, NULL);
    double again = counters_of_host(p, RECORDING_VMSTAT, VMSTAT_REFAULT, rows);
    return read > 0 ? fmin(again / read, 1) : NAN;
}

static double memory_part(const struct process_part *p, double pressure, double disk,
                          struct windows w) {
    double again = disk > 0 ? disk * read_again_share(p, w) : NAN;
    return fmax(pressure, again); /* if one of them is NAN, the other */
}

/* The most CPU time for making room for a byte, faulting it in and reading it back: 3 us a page
 * were seen in programs that cycle through more memory than their group may have.
 */
#define READ_BACK_NS_PER_BYTE 1.0

/* Making room and reading back is kernel work on the process's account: its system time in the row
 * that contains the interval, at most as long as memory was short, or as reading back takes.
 */
static double cpu_part(const struct process_part *p, double memory, double cpu, struct windows w) {
    if (!(memory > 0))
        return 0;
    struct window row = rank_row_around(p->process->series, w);
    struct windows rows = {&row, 1};
    double system = counters_growth(&p->seldom, PROCESS_SYSTEM, rows);
    double all = counters_cpu(&p->seldom, rows);
    double part = (double)windows_length(w) / (double)windows_length(rows);
    double again = counters_of_host(p, RECORDING_VMSTAT, VMSTAT_REFAULT, rows);
    double most = fmax(memory, READ_BACK_NS_PER_BYTE * again * part);
    return all > 0 && system > 0 ? fmin(cpu * fmin(system / all, 1), most) : 0;
}

void rank_memory(const struct process_part *p, const struct source *s, struct windows w,
                 struct budget_interval *interval) {
    struct window wide;
    /* a process that sleeps until there is room has its faults before and after */
    double faults = counters_growth(s, s->faults, counters_around(&w.items[0], &wide));
    double pressure = faults <= 0 ? 0 : rank_pressure(p, "memory", w);
    interval->memory = memory_part(p, pressure, interval->disk, w);
    interval->memory_cpu =
        cpu_part(p, interval->memory, isnan(interval->cpu) ? 0 : interval->cpu, w);
    interval->memory_asleep = fmax(0, pressure);
}
