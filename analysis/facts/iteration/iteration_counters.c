/* SPDX-License-Identifier: MIT */
/*
 * Iterations from counters alone. The bytes that the busiest host sends vary with the program's
 * pace (one direction of one host: data sent and returned would double it). That gives only one
 * pace for all ranks: all iterations have the mean length and begin where bytes are fewest. A
 * program without a steady pace has no iterations here, and questions about iterations use fixed
 * windows instead.
 *
 * Where bytes show no pace (within one host, or too few of them), the process that runs most may:
 * its wait clocks say how long it ran in each sample.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/iteration/iteration_private.h"
#include "analysis/facts/series/rate.h"
#include "analysis/facts/series/spectrum.h"
#include "analysis/facts/series/stats.h"

#define BYTES_MIN 1e6 /* in all: less is no traffic of the program */
#define RUNS_MIN 0.05 /* of the run: a process that runs less shows no pace */
#define ITERATIONS_MAX 65536
#define QUIET 0.05 /* of the mean: the run lasts from the first to the last sample above it */

struct traffic {
    double *values; /* bytes sent, or ns run, in each time step */
    size_t n;
    int64_t begin_ns, step_ns;
};

static int64_t step_of(const struct recording *recording) {
    int64_t step = recording->period_ns > 0 ? recording->period_ns : INT64_C(100000000);
    while (recording->duration_ns / step > (int64_t)SPECTRUM_MAX)
        step *= 2;
    return step;
}

static int add_sent(const struct recording *recording, int host, struct traffic *traffic) {
    struct rate rate;
    int result = metric_rate(recording, host, METRIC_NET_SEND, &rate);
    if (result < 0)
        return result;
    for (size_t i = 0; i < traffic->n; i++) {
        struct window w = {traffic->step_ns * (int64_t)i, traffic->step_ns * (int64_t)(i + 1)};
        traffic->values[i] = rate_amount(&rate, (struct windows){&w, 1});
    }
    rate_release(&rate);
    return 0;
}

static double sum_of(const double *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum;
}

/* Cuts off the quiet ends. */
static void trim(struct traffic *traffic) {
    double least = QUIET * sum_of(traffic->values, traffic->n) / (double)(traffic->n + 1);
    size_t first = 0, n = traffic->n;
    while (n > 0 && traffic->values[n - 1] <= least)
        n--;
    while (first < n && traffic->values[first] <= least)
        first++;
    memmove(traffic->values, traffic->values + first, (n - first) * sizeof *traffic->values);
    traffic->begin_ns = traffic->step_ns * (int64_t)first;
    traffic->n = n - first;
}

static int traffic_make(const struct recording *recording, struct traffic *traffic) {
    int64_t step = step_of(recording);
    *traffic = (struct traffic){.step_ns = step, .n = (size_t)(recording->duration_ns / step)};
    traffic->values = calloc(traffic->n + 1, sizeof *traffic->values);
    return traffic->values ? 0 : -ENOMEM;
}

/* The host that sends most bytes. */
static int busiest_host(const struct recording *recording, int *ret_host) {
    double most = 0;
    *ret_host = -1;
    for (size_t h = 0; h < recording->n_hosts; h++) {
        struct window all = {0, recording->duration_ns};
        struct rate rate;
        int result = metric_rate(recording, (int)h, METRIC_NET_SEND, &rate);
        if (result < 0)
            return result;
        double bytes = rate_amount(&rate, (struct windows){&all, 1});
        rate_release(&rate);
        if (bytes > most) {
            most = bytes;
            *ret_host = (int)h;
        }
    }
    return 0;
}

static int find_pace(struct traffic *traffic, double least, struct spectrum_period *ret_period) {
    if (sum_of(traffic->values, traffic->n) < least)
        return 0;
    trim(traffic);
    return spectrum_find_period(traffic->values, traffic->n, ret_period);
}

static int pace_of_bytes(const struct recording *recording, struct traffic *traffic,
                         struct spectrum_period *ret_period) {
    int host, result = busiest_host(recording, &host);
    if (result < 0 || host < 0)
        return result;
    result = add_sent(recording, host, traffic);
    return result < 0 ? result : find_pace(traffic, BYTES_MIN, ret_period);
}

/* The process that ran longest, of those whose waits were clocked. */
static const struct series *busiest_process(const struct recording *recording) {
    const struct series_set *set = &recording->tables[RECORDING_WAIT];
    const struct window all = {0, recording->duration_ns};
    const struct series *busiest = NULL;
    double most = 0;
    for (size_t s = 0; s < set->n; s++) {
        double ran =
            series_growth(set, &set->items[s], WAIT_PROCESS_RUN, (struct windows){&all, 1}, NULL);
        if (series_last(set, &set->items[s], WAIT_PID) != VALUE_ABSENT && ran > most) {
            most = ran;
            busiest = &set->items[s];
        }
    }
    return busiest;
}

static int pace_of_waits(const struct recording *recording, struct traffic *traffic,
                         struct spectrum_period *ret_period) {
    const struct series *process = busiest_process(recording);
    traffic->n = (size_t)(recording->duration_ns / traffic->step_ns);
    traffic->begin_ns = 0;
    for (size_t i = 0; process && i < traffic->n; i++) {
        struct window w = {traffic->step_ns * (int64_t)i, traffic->step_ns * (int64_t)(i + 1)};
        double ran = series_growth(&recording->tables[RECORDING_WAIT], process, WAIT_PROCESS_RUN,
                                   (struct windows){&w, 1}, NULL);
        traffic->values[i] = ran > 0 ? ran : 0; /* NAN if not known */
    }
    return process ? find_pace(traffic, RUNS_MIN * (double)recording->duration_ns, ret_period) : 0;
}

/* ---- whose iterations ---- */

static bool is_rank(const struct series_set *set, const struct series *series) {
    int64_t rank = series_last(set, series, PROCESS_RANK);
    return series_ever(set, series, PROCESS_JOB, 1) && rank >= 0 && rank <= 1 << 24;
}

static double cpu_of(const struct recording *recording, const struct series *series) {
    const struct series_set *set = &recording->tables[RECORDING_PROCESS];
    struct window all = {0, recording->duration_ns};
    return series_growth(set, series, PROCESS_USER, (struct windows){&all, 1}, NULL);
}

/* A rank's wrappers carry its number, too: the process that computes most counts. */
static bool is_outdone(const struct recording *recording, const struct series *series) {
    const struct series_set *set = &recording->tables[RECORDING_PROCESS];
    double own = cpu_of(recording, series);
    for (size_t s = 0; s < set->n; s++) {
        const struct series *other = &set->items[s];
        if (other == series || !is_rank(set, other) || other->host != series->host ||
            series_last(set, other, PROCESS_RANK) != series_last(set, series, PROCESS_RANK))
            continue;
        double its = cpu_of(recording, other);
        if (its > own || (its == own && other < series))
            return true;
    }
    return false;
}

static int add_paced_rank(struct iterations *to, int rank, int host, int64_t pid, int64_t begin_ns,
                          double period_ns, size_t n) {
    struct rank_iterations *r = &to->ranks[to->n];
    *r = (struct rank_iterations){rank, host, pid, 0, n, malloc(n * sizeof *r->items)};
    if (!r->items)
        return -ENOMEM;
    to->n++;
    for (size_t i = 0; i < n; i++) {
        int64_t from = begin_ns + llround(period_ns * (double)i);
        int64_t until = begin_ns + llround(period_ns * (double)(i + 1));
        r->items[i] = (struct iteration){(int64_t)i, until, until - from};
    }
    return 0;
}

static int compare_paced_ranks(const void *a, const void *b) {
    const struct rank_iterations *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->host != y->host ? (x->host < y->host ? -1 : 1) : 0;
}

static int fill(const struct recording *recording, int64_t begin_ns, double period_ns, size_t n,
                struct iterations *to) {
    const struct series_set *set = &recording->tables[RECORDING_PROCESS];
    int result = 0;
    to->ranks = calloc(set->n + 1, sizeof *to->ranks);
    if (!to->ranks)
        return -ENOMEM;
    for (size_t s = 0; result == 0 && s < set->n; s++) {
        const struct series *series = &set->items[s];
        if (is_rank(set, series) && !is_outdone(recording, series))
            result = add_paced_rank(to, (int)series_last(set, series, PROCESS_RANK), series->host,
                                    series_last(set, series, PROCESS_PID), begin_ns, period_ns, n);
    }
    if (result == 0 && to->n == 0)
        result = add_paced_rank(to, -1, 0, -1, begin_ns, period_ns, n);
    if (to->n)
        qsort(to->ranks, to->n, sizeof *to->ranks, compare_paced_ranks);
    to->source = ITERATION_COUNTERS;
    to->lockstep = to->n > 1;
    return result;
}

int iterations_from_counters(const struct recording *recording, struct iterations *ret_iterations) {
    struct iterations iterations = {.n = 0};
    struct spectrum_period period = {NAN, NAN, NAN};
    struct traffic traffic;
    int result = traffic_make(recording, &traffic);
    if (result == 0)
        result = pace_of_bytes(recording, &traffic, &period);
    if (result == 0 && isnan(period.samples))
        result = pace_of_waits(recording, &traffic, &period);
    if (result == 0 && !isnan(period.samples)) {
        size_t n = (size_t)(((double)traffic.n - period.phase) / period.samples);
        int64_t begin = traffic.begin_ns + llround(period.phase * (double)traffic.step_ns);
        if (n >= SPECTRUM_REPEATS / 2 && n <= ITERATIONS_MAX)
            result =
                fill(recording, begin, period.samples * (double)traffic.step_ns, n, &iterations);
    }
    free(traffic.values);
    if (result < 0) {
        iterations_release(&iterations);
        return result;
    }
    *ret_iterations = iterations;
    return 0;
}
