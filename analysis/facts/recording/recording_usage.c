/* SPDX-License-Identifier: MIT */
/*
 * Use that the rows of processes lack: between the last row of a process and its end, and of
 * processes without a row. On the command's host the kernel charged all of it to the waiting
 * parent; on the others, ranks are sampled more often than processes.
 */
#include <errno.h>
#include <string.h>

#include "analysis/facts/recording/recording.h"
#include "common/clock.h"
#include "common/error.h"

struct told {
    double cpu_ns, read_bytes, write_bytes;
};

static struct told use_of_rows(const struct series_set *set, int host) {
    struct told told = {0};
    for (size_t s = 0; s < set->n; s++) {
        const struct series *one = &set->items[s];
        if (one->host != host || !series_ever(set, one, PROCESS_JOB, 1))
            continue;
        for (size_t row = 0; row < one->n; row++) {
            told.cpu_ns += series_amount(series_value(set, one, row, PROCESS_USER)) +
                           series_amount(series_value(set, one, row, PROCESS_SYSTEM)) +
                           series_amount(series_value(set, one, row, PROCESS_UNSEEN));
            told.read_bytes += series_amount(series_value(set, one, row, PROCESS_READ));
            told.write_bytes += series_amount(series_value(set, one, row, PROCESS_WRITE));
        }
    }
    return told;
}

static int64_t rest(int64_t all, double told) {
    double left = series_amount(all) - told;
    return left > 0 ? (int64_t)left : 0;
}

/* The last time that rows of processes may have missed; the whole run if more is missing than the
 * host's cores can do in it.
 */
static int64_t stretch_of(const struct recording *recording, int host, int64_t cpu_ns) {
    const struct series_set *cpus = &recording->tables[RECORDING_CPU];
    int64_t cores = 0;
    for (size_t s = 0; s < cpus->n; s++)
        cores += cpus->items[s].host == host;
    bool fits = recording->duration_ns > NS_PER_S && cpu_ns <= (cores > 0 ? cores : 1) * NS_PER_S;
    return fits ? NS_PER_S : recording->duration_ns;
}

/* Adds a row of a separate process: what the others lack. */
static int add_ended(struct recording *recording, int host, int64_t cpu_ns, int64_t read_bytes,
                     int64_t write_bytes) {
    int64_t values[RECORDING_COLUMNS_MAX];
    for (size_t c = 0; c < ARRAY_SIZE(values); c++)
        values[c] = VALUE_ABSENT;
    values[PROCESS_JOB] = 1;
    values[PROCESS_USER] = values[PROCESS_SYSTEM] = 0;
    values[PROCESS_UNSEEN] = cpu_ns;
    values[PROCESS_READ] = read_bytes;
    values[PROCESS_WRITE] = write_bytes;
    if (recording->duration_ns <= 0)
        return 0;
    return series_set_append(&recording->tables[RECORDING_PROCESS], host, RECORDING_ENDED_INSTANCE,
                             RECORDING_ENDED, recording->duration_ns,
                             stretch_of(recording, host, cpu_ns), values);
}

/* ---- ranks, which are sampled more often ---- */

static const struct series *find_process(const struct series_set *set, int host, int64_t pid) {
    for (size_t s = set->n; s-- > 0;)
        if (set->items[s].host == host && set->items[s].n && pid != VALUE_ABSENT &&
            series_last(set, &set->items[s], PROCESS_PID) == pid)
            return &set->items[s];
    return NULL;
}

static int64_t last_time(const struct series *series) {
    return series ? series->t_ns[series->n - 1] : INT64_MIN;
}

/* Use of a rank after the last row of its process, unless that row was its end, or its parent's
 * rows contain it.
 */
static double tail_ns(const struct recording *recording, const struct series *rank) {
    const struct series_set *processes = &recording->tables[RECORDING_PROCESS];
    const struct series_set *ranks = &recording->tables[RECORDING_RANK];
    int64_t pid = series_last(ranks, rank, RANK_PID);
    const struct series *process = find_process(processes, rank->host, pid);
    if (!process || series_last(processes, process, PROCESS_PEAK_RSS) != VALUE_ABSENT)
        return 0;
    const struct series *parent =
        find_process(processes, rank->host, series_last(processes, process, PROCESS_PARENT));
    struct window rest = {last_time(process), last_time(rank)};
    if (rest.end_ns <= rest.begin_ns || last_time(parent) > rest.end_ns)
        return 0;
    return series_growth(ranks, rank, RANK_RUN, (struct windows){&rest, 1}, NULL);
}

int recording_add_rank_tails(struct recording *recording, int except) {
    const struct series_set *ranks = &recording->tables[RECORDING_RANK];
    int result = 0;
    for (int host = 0; host < (int)recording->n_hosts && result == 0; host++) {
        double sum = 0;
        for (size_t s = 0; s < ranks->n; s++)
            if (ranks->items[s].host == host && ranks->items[s].n && host != except)
                sum += tail_ns(recording, &ranks->items[s]);
        if (sum > 0 && sum < (double)TIME_SANE_NS)
            result = add_ended(recording, host, (int64_t)sum, 0, 0);
    }
    return result;
}

/* ---- the command ---- */

int recording_add_usage(struct recording *recording, int host,
                        const struct recording_usage *usage) {
    struct told told = use_of_rows(&recording->tables[RECORDING_PROCESS], host);
    return add_ended(recording, host, rest(usage->cpu_ns, told.cpu_ns),
                     rest(usage->read_bytes, told.read_bytes),
                     rest(usage->write_bytes, told.write_bytes));
}
