/* SPDX-License-Identifier: MIT */
/*
 * Joins one process under all its names: a wrapper that calls exec, or a program that sets its own
 * title. The agent identifies a process by name and id, so each name has its own series.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/facts/recording/recording.h"

/* Starts are rounded to ticks of 10 ms and moved to the run's axis by each host's clock. No id is
 * used again so soon.
 */
#define SAME_START_NS 20000000

struct named { /* one series of the set */
    size_t at;
    int host;
    int64_t pid, start_ns;
    size_t row;    /* cursor of the join */
    size_t leader; /* first series of the same process, in order of `at` */
};

static int compare_process(const void *a, const void *b) {
    const struct named *x = a, *y = b;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static int compare_leader(const void *a, const void *b) {
    const struct named *x = a, *y = b;
    if (x->leader != y->leader)
        return x->leader < y->leader ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static bool is_same_process(const struct named *a, const struct named *b) {
    return a->host == b->host && a->pid == b->pid && a->pid != VALUE_ABSENT &&
           time_is_sane(a->start_ns) && time_is_sane(b->start_ns) &&
           b->start_ns - a->start_ns <= SAME_START_NS;
}

static void list_series(const struct series_set *set, struct named *names) {
    for (size_t s = 0; s < set->n; s++) {
        const struct series *series = &set->items[s];
        names[s] = (struct named){.at = s,
                                  .host = series->host,
                                  .pid = series_last(set, series, PROCESS_PID),
                                  .start_ns = series_last(set, series, PROCESS_START)};
    }
}

/* Sorts the series so that those of one process are adjacent, processes in the order of the set.
 * Returns the number of processes.
 */
static size_t find_processes(struct named *names, size_t n) {
    size_t processes = 0, first = 0;
    qsort(names, n, sizeof *names, compare_process);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || !is_same_process(&names[i - 1], &names[i])) {
            first = i;
            processes++;
            names[i].leader = names[i].at;
            continue;
        }
        if (names[i].at < names[first].leader)
            for (size_t k = first; k < i; k++)
                names[k].leader = names[i].at;
        names[i].leader = names[first].leader;
    }
    qsort(names, n, sizeof *names, compare_leader);
    return processes;
}

static int64_t last_seen(const struct series_set *set, const struct named *name) {
    const struct series *series = &set->items[name->at];
    return series->n ? series->t_ns[series->n - 1] : INT64_MIN;
}

/* The series with its last name. */
static const struct series *latest_of(const struct series_set *set, const struct named *names,
                                      size_t n) {
    const struct named *latest = &names[0];
    for (size_t i = 1; i < n; i++)
        if (last_seen(set, &names[i]) >= last_seen(set, latest))
            latest = &names[i];
    return &set->items[latest->at];
}

/* Among rows of one instant, the one with known growth comes first. */
static struct named *next_row(const struct series_set *set, struct named *names, size_t n) {
    struct named *next = NULL;
    int64_t t = 0;
    for (size_t i = 0; i < n; i++) {
        const struct series *series = &set->items[names[i].at];
        if (names[i].row == series->n)
            continue;
        int64_t at = series->t_ns[names[i].row];
        bool knows = series->interval_ns[names[i].row] != VALUE_ABSENT;
        if (!next || at < t || (at == t && knows)) {
            next = &names[i];
            t = at;
        }
    }
    return next;
}

static int join_process(const struct series_set *set, struct named *names, size_t n,
                        struct series_set *joined) {
    const struct series *as = latest_of(set, names, n);
    size_t at = joined->n;
    int result = 0;
    for (struct named *next; result == 0 && (next = next_row(set, names, n)); next->row++) {
        const struct series *from = &set->items[next->at];
        result = series_set_append_at(joined, at, as->host, as->instance, as->name,
                                      from->t_ns[next->row], from->interval_ns[next->row],
                                      from->values + next->row * set->n_columns);
    }
    return result;
}

static int join_all(struct series_set *set, struct named *names) {
    struct series_set joined = series_set_like(set);
    int result = 0;
    for (size_t i = 0, n = 0; result == 0 && i < set->n; i += n, n = 0) {
        while (i + n < set->n && names[i + n].leader == names[i].leader)
            n++;
        result = join_process(set, &names[i], n, &joined);
    }
    series_set_release(result == 0 ? set : &joined);
    if (result == 0)
        *set = joined;
    return result;
}

int recording_join_names(struct recording *recording) {
    struct series_set *set = &recording->tables[RECORDING_PROCESS];
    struct named *names = calloc(set->n + 1, sizeof *names);
    if (!names)
        return -ENOMEM;
    list_series(set, names);
    int result = find_processes(names, set->n) < set->n ? join_all(set, names) : 0;
    free(names);
    return result;
}
