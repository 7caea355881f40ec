/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "cli/jobs/jobs.h"

const char *job_order_name(enum job_order order) {
    static const char *const names[JOB_ORDERS] = {"cores", "gpus", "memory", "start"};
    return names[order];
}

/* The unused part. A run can use a little more than its quota. */
static double rest(double given, double used) {
    return isnan(used) ? NAN : fmax(0, given - used);
}

struct job job_of(const struct listed_run *run) {
    double hours = run->duration_s / 3600;
    return (struct job){
        .run = run,
        .core_h = run->cores * hours,
        .idle_core_h = rest(run->cores, run->cores_used) * hours,
        .gpu_h = run->gpus * hours,
        .idle_gpu_h = rest(run->gpus, run->gpus_used) * hours,
        .unused_gb_h = rest(run->memory_gb, run->memory_peak_gb) * hours,
    };
}

static double key(const struct job *job, enum job_order order) {
    switch (order) {
    case JOBS_BY_CORES:
        return job->idle_core_h;
    case JOBS_BY_GPUS:
        return job->idle_gpu_h;
    case JOBS_BY_MEMORY:
        return job->unused_gb_h;
    default:
        return (double)job->run->started_wall_ns;
    }
}

static int compare(const void *a, const void *b, void *order) {
    const struct job *x = a, *y = b;
    double one = key(x, *(enum job_order *)order), other = key(y, *(enum job_order *)order);
    if (isnan(one) || isnan(other))
        return (int)isnan(one) - (int)isnan(other);
    if (one != other)
        return one < other ? 1 : -1;
    return (x->run->id > y->run->id) - (x->run->id < y->run->id);
}

void jobs_sort(struct job *jobs, size_t n, enum job_order order) {
    if (n)
        qsort_r(jobs, n, sizeof *jobs, compare, &order);
}
