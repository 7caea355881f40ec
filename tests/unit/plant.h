/* SPDX-License-Identifier: MIT */
/*
 * Recordings with a planted truth: every column of a table is a function of time, sampled as an
 * agent would. Counters give their growth, levels their state.
 */
#ifndef CHOKEPOINT_TESTS_PLANT_H
#define CHOKEPOINT_TESTS_PLANT_H

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/recording/recording.h"

#define S INT64_C(1000000000)
#define MS INT64_C(1000000)

/* Growth per second, or the level, at a time in s, for the whole interval. */
typedef double plant_value(size_t column, double t_s);

static inline void plant_init(struct recording *r, size_t n_hosts, double duration_s) {
    recording_init(r);
    r->duration_ns = (int64_t)(duration_s * 1e9);
    r->period_ns = 100 * MS;
    r->hosts = calloc(n_hosts + 1, sizeof *r->hosts);
    for (size_t i = 0; i < n_hosts; i++) {
        char name[32];
        snprintf(name, sizeof name, "vm%zu", i + 1);
        r->hosts[r->n_hosts++] = strdup(name);
    }
}

/* Samples from begin_s to end_s; each value is taken in the middle of its interval. */
static inline void plant_part(struct recording *r, enum recording_table table, int host,
                              int64_t instance, const char *name, double period_s, double begin_s,
                              double end_s, uint64_t levels, plant_value *value) {
    struct series_set *set = &r->tables[table];
    int64_t values[RECORDING_COLUMNS_MAX];
    long n = lround((end_s - begin_s) / period_s);
    for (long i = 0; i <= n; i++) {
        double t = begin_s + (double)i * period_s;
        for (size_t c = 0; c < set->n_columns; c++) {
            double v = levels >> c & 1 ? value(c, t) : value(c, t - period_s / 2) * period_s;
            values[c] =
                isnan(v) || (i == 0 && !(levels >> c & 1)) ? VALUE_ABSENT : (int64_t)llround(v);
        }
        series_set_append(set, host, instance, name, (int64_t)llround(t * 1e9),
                          i ? (int64_t)llround(period_s * 1e9) : VALUE_ABSENT, values);
    }
}

/* From half a second before the run to half a second after it. */
static inline void plant(struct recording *r, enum recording_table table, int host,
                         const char *name, double period_s, uint64_t levels, plant_value *value) {
    static int64_t instance; /* must only differ between series */
    plant_part(r, table, host, ++instance, name, period_s, -10 * period_s / 2,
               (double)r->duration_ns / 1e9 + 10 * period_s / 2, levels, value);
}

static inline void plant_mark(struct recording *r, enum mark_kind kind, const char *name, int rank,
                              int host, int64_t number, double start_s, double duration_s) {
    struct mark mark = {.host = host,
                        .kind = kind,
                        .rank = rank,
                        .pid = 1000 + rank,
                        .number = number,
                        .start_ns = (int64_t)llround(start_s * 1e9),
                        .duration_ns =
                            isnan(duration_s) ? VALUE_ABSENT : (int64_t)llround(duration_s * 1e9),
                        .output_bytes = VALUE_ABSENT,
                        .value_nano = VALUE_ABSENT};
    snprintf(mark.name, sizeof mark.name, "%s", name);
    recording_add_mark(r, &mark);
}

#define PROCESS_LEVELS                                                                             \
    (1u << PROCESS_PID | 1u << PROCESS_RANK | 1u << PROCESS_JOB | 1u << PROCESS_RSS |              \
     1u << PROCESS_THREADS | 1u << PROCESS_GPU | 1u << PROCESS_CORES | 1u << PROCESS_FIRST_CORE)
#define MEMORY_LEVELS 0xfu

/* One process with its use (seconds per second); rank -1: a process outside the job. */
struct plant_process {
    int rank;
    double cpu, run_queue, block_io;
};
static struct plant_process plant_process_now; /* input of the function below */
static double plant_process_read;              /* bytes/s that each process reads */

static inline double plant_process_value(size_t column, double t_s) {
    const struct plant_process *p = &plant_process_now;
    (void)t_s;
    switch (column) {
    case PROCESS_PID:
        return 1000 + p->rank;
    case PROCESS_RANK:
        return p->rank < 0 ? NAN : p->rank;
    case PROCESS_JOB:
        return p->rank >= 0;
    case PROCESS_RSS:
        return 1e9;
    case PROCESS_USER:
        return p->cpu * 1e9;
    case PROCESS_RUN_QUEUE:
        return p->run_queue * 1e9;
    case PROCESS_BLOCK_IO:
        return p->block_io * 1e9;
    case PROCESS_READ:
        return plant_process_read;
    default:
        return 0;
    }
}

static inline void plant_process(struct recording *r, int host, const char *name,
                                 struct plant_process process) {
    plant_process_now = process;
    plant(r, RECORDING_PROCESS, host, name, 1, PROCESS_LEVELS, plant_process_value);
}

#endif
