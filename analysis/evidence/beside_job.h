/* SPDX-License-Identifier: MIT */
/*
 * Work on hosts beside the job. A program that serves the job, but is not known as a part of it,
 * may fill a host; then the job's own processes do not show what the run waits for.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_BESIDE_JOB_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_BESIDE_JOB_H

#include "analysis/run_model.h"

struct beside_job {
    double busy, waited; /* share of its cores; of the time in which a task waited for a core */
    double job;          /* share of its cores' work that the job did */
    double throttled;    /* share of time for which a control group was throttled; NAN: none has a
                            quota */
    bool is_full;        /* no core was free, or a group had used up its quota, */
    bool is_thin;        /* and the job used little of it */
};

struct beside_job beside_job_of(const struct run_model *model, size_t group, int host);

/* The fullest host that is full and thin; -1 if there is none. */
int beside_job_find(const struct run_model *model, size_t group, struct beside_job *ret_beside);

/* Whether connections of the job lead to a process on that host outside the job, so that it may
 * serve the job. If the job has no process there, the host's addresses are not known, and any
 * unknown address may be its own.
 */
bool host_may_serve_job(const struct run_model *model, int host);

#endif
