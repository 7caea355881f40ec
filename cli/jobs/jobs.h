/* SPDX-License-Identifier: MIT */
/* The cores, memory and GPUs that runs left unused, the worst first. */
#ifndef CHOKEPOINT_CLI_JOBS_H
#define CHOKEPOINT_CLI_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "reports/runs.h"

/* In hours times number, GB times hours for memory; NAN: not known. */
struct job {
    const struct listed_run *run; /* borrowed */
    double core_h, idle_core_h;
    double gpu_h, idle_gpu_h;
    double unused_gb_h; /* of memory that was never touched */
};

enum job_order { JOBS_BY_CORES, JOBS_BY_GPUS, JOBS_BY_MEMORY, JOBS_BY_START, JOB_ORDERS };

/* "cores", "gpus", "memory", "start" */
const char *job_order_name(enum job_order order);

struct job job_of(const struct listed_run *run);

/* Most unused first, those that are not known last; JOBS_BY_START: the latest first. */
void jobs_sort(struct job *jobs, size_t n, enum job_order order);

/* For a terminal: a line each and their sum. files: they come from several databases. -ENOMEM. */
int jobs_print(const struct job *jobs, size_t n, bool files);

/* Puts each job into a table of PostgreSQL, which libpq's environment (PGHOST, PGSERVICE) names:
 * columns id and job (jsonb). The table is made if it is missing; a job that is there is replaced.
 * 0, or -EIO after one line on standard error. */
int jobs_to_postgres(const struct job *jobs, size_t n, const char *table);

#endif
