/* SPDX-License-Identifier: MIT */
/* Shared by the files about a process's counters (rank_counters.c, rank_growth.c, rank_memory.c).
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_RANK_COUNTERS_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_TIME_RANK_COUNTERS_PRIVATE_H

#include "analysis/time/rank_budget_private.h"

/* The columns of a series that describe the process. */
struct source {
    const struct series_set *set;
    const struct series *series;             /* NULL: none */
    uint64_t cpu;                            /* a mask of columns */
    size_t run_queue, disk, faults, longest; /* columns; 0 for `longest` if there is none */
};

struct process_part {
    const struct run_model *model;
    const struct model_process *process;
    struct source often, seldom; /* from table rank; from table process */
    const struct series *mpi;
    struct process_waits waits;
    int64_t start_ns; /* of the process; INT64_MAX: not known */
    int host;
    int64_t pid;
    struct series_range at[RECORDING_COUNT_]; /* where each table has the series of its host */
    bool knows_steal, has_threads;
};

/* The growth of a counter in the windows; NAN if it is not known for the process. */
double counters_growth(const struct source *s, size_t column, struct windows w);
/* CPU time, user and system; NAN if it is not known for the process. */
double counters_cpu(const struct source *s, struct windows w);
/* The growth of a column, summed over all series of its host. */
double counters_of_host(const struct process_part *p, enum recording_table table, size_t column,
                        struct windows w);
/* A window with its own length added on both sides; the result points to *ret_wide. */
struct windows counters_around(const struct window *w, struct window *ret_wide);

/* How long any process on the host waited for a resource ("io", "memory"); NAN if not known. */
double rank_pressure(const struct process_part *p, const char *resource, struct windows w);
/* The row of a series in which an interval ends: a counter that is read seldom is spread over the
 * same time as the one it is compared with.
 */
struct window rank_row_around(const struct series *series, struct windows w);

/* Fills in the interval's short memory from its disk and CPU time: memory, memory_cpu,
 * memory_asleep. s: the source of its row.
 */
void rank_memory(const struct process_part *p, const struct source *s, struct windows w,
                 struct budget_interval *interval);

#endif
