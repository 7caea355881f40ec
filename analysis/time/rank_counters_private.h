/* SPDX-License-Identifier: MIT */
/* Shared by the parts of a process's counters (rank_counters.c, rank_memory.c). */
#ifndef CHOKEPOINT_ANALYSIS_TIME_RANK_COUNTERS_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_TIME_RANK_COUNTERS_PRIVATE_H

#include "analysis/time/rank_budget_private.h"

/* Which columns of which series tell of the process. */
struct source {
    const struct series_set *set;
    const struct series *series;             /* NULL: none */
    uint64_t cpu;                            /* bits */
    size_t run_queue, disk, faults, longest; /* longest: 0 if there is none */
};

struct process_part {
    const struct run_model *model;
    const struct model_process *process;
    struct source often, seldom; /* rank, process */
    const struct series *mpi;
    struct process_waits waits;
    int64_t start_ns; /* of the process; INT64_MAX: not known */
    int host;
    int64_t pid;
    struct series_range at[RECORDING_COUNT_]; /* where the series of its host are */
    bool knows_steal, has_threads;
};

/* By how much a counter grew in the windows; NAN: it is not known of the process. */
double counters_growth(const struct source *s, size_t column, struct windows w);
/* CPU time, user's and system's; NAN as above. */
double counters_cpu(const struct source *s, struct windows w);
/* A column of a table, summed over all that its host has of it. */
double counters_of_host(const struct process_part *p, enum recording_table table, size_t column,
                        struct windows w);
/* A window with as much before and after it; *ret_wide is what the result points to. */
struct windows counters_around(const struct window *w, struct window *ret_wide);

/* For how long anybody on the host waited for a resource ("io", "memory"); NAN: not known. */
double rank_pressure(const struct process_part *p, const char *resource, struct windows w);
/* The row of a series that an interval ends in: what is only counted now and then is spread over
 * the same time as what it is held against. */
struct window rank_row_around(const struct series *series, struct windows w);

/* Fills in what of the interval was short memory: memory, memory_cpu, memory_asleep, of its disk
 * and CPU time. s: the source that its row is of. */
void rank_memory(const struct process_part *p, const struct source *s, struct windows w,
                 struct budget_interval *interval);

#endif
