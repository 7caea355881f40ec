/* SPDX-License-Identifier: MIT */
/* Recordings of agents that kept no parent process ids cannot tell launchers. */
#include "analysis/facts/recording/members.h"

#include <errno.h>
#include <stdlib.h>

/* A launcher's CPU time over that of all its descendants: it reads their output, and waits. */
#define LAUNCHER_PART 0.05
#define ANCESTORS_MAX 64

struct person { /* the process with one id on a host, under all its names */
    int host;
    int64_t pid, parent;
    double cpu_ns, below_ns; /* its own, and that of its descendants in the job */
    bool job;
};

static int compare(const void *a, const void *b) {
    const struct person *x = a, *y = b;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct person person_of(const struct series_set *set, const struct series *series) {
    const struct window all = {INT64_MIN / 2, INT64_MAX / 2};
    const struct windows windows = {&all, 1};
    return (struct person){
        .host = series->host,
        .pid = series_last(set, series, PROCESS_PID),
        .parent = series_last(set, series, PROCESS_PARENT),
        .cpu_ns = series_growth(set, series, PROCESS_USER, windows, NULL) +
                  series_growth(set, series, PROCESS_SYSTEM, windows, NULL),
        .job = series_ever(set, series, PROCESS_JOB, 1),
    };
}

/* Sorts the persons and joins those with one id. Returns their number. */
static size_t join_names(struct person *persons, size_t n) {
    size_t kept = 0;
    qsort(persons, n, sizeof *persons, compare);
    for (size_t i = 0; i < n; i++) {
        struct person *last = kept ? &persons[kept - 1] : NULL;
        if (!last || compare(last, &persons[i]) != 0) {
            persons[kept++] = persons[i];
            continue;
        }
        last->cpu_ns += persons[i].cpu_ns;
        last->job |= persons[i].job;
    }
    return kept;
}

static struct person *find(struct person *persons, size_t n, int host, int64_t pid) {
    struct person key = {.host = host, .pid = pid};
    return bsearch(&key, persons, n, sizeof *persons, compare);
}

static void tell_ancestors(struct person *persons, size_t n, const struct person *person) {
    const struct person *at = person;
    for (int i = 0; i < ANCESTORS_MAX; i++) {
        struct person *parent = at->parent > 0 ? find(persons, n, at->host, at->parent) : NULL;
        if (!parent || parent == person || !parent->job)
            return;
        parent->below_ns += person->cpu_ns;
        at = parent;
    }
}

/* Without a launcher, a program's only rank number is the one that MPI gave it. */
static int rank_of_record(const struct recording *recording, int host, int64_t pid) {
    const struct series_set *set = &recording->tables[RECORDING_MPI];
    const struct series *series = series_of_pid(set, host, MPI_PID, pid);
    return series ? (int)series_last(set, series, MPI_RANK) : -1;
}

static int rank_of(const struct recording *recording, const struct series *series, int64_t pid) {
    int64_t rank = series_last(&recording->tables[RECORDING_PROCESS], series, PROCESS_RANK);
    if (rank < 0)
        rank = rank_of_record(recording, series->host, pid);
    return rank < 0 || rank > 1 << 24 ? -1 : (int)rank;
}

static struct member member_of(const struct recording *recording, const struct series *series,
                               struct person *persons, size_t n) {
    const struct series_set *set = &recording->tables[RECORDING_PROCESS];
    const struct person *person =
        find(persons, n, series->host, series_last(set, series, PROCESS_PID));
    struct member member = {.rank = -1, .job = series_ever(set, series, PROCESS_JOB, 1)};
    if (!member.job)
        return member;
    member.rank = rank_of(recording, series, person->pid);
    member.launcher = member.rank < 0 && person->below_ns > 0 &&
                      person->cpu_ns <= LAUNCHER_PART * person->below_ns;
    return member;
}

int members_find(const struct recording *recording, struct member **ret_members) {
    const struct series_set *set = &recording->tables[RECORDING_PROCESS];
    struct person *persons = calloc(set->n + 1, sizeof *persons);
    struct member *members = calloc(set->n + 1, sizeof *members);
    if (!persons || !members) {
        free(persons);
        free(members);
        return -ENOMEM;
    }
    for (size_t s = 0; s < set->n; s++)
        persons[s] = person_of(set, &set->items[s]);
    size_t n = join_names(persons, set->n);
    for (size_t i = 0; i < n; i++)
        if (persons[i].job)
            tell_ancestors(persons, n, &persons[i]);
    for (size_t s = 0; s < set->n; s++)
        members[s] = member_of(recording, &set->items[s], persons, n);
    free(persons);
    *ret_members = members;
    return 0;
}
