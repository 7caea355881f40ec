/* SPDX-License-Identifier: MIT */
/*
 * Work of hosts beside the job: a program that serves the job without being known as part of it
 * may fill a host, and then the job's own processes tell nothing of what the run waits for.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_BESIDE_JOB_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_BESIDE_JOB_H

#include "analysis/run_model.h"

struct beside_job {
    double busy, waited; /* shares: its cores, and of the time in which a task waited for one */
    double job;          /* of what its cores did, by the job */
    double throttled;    /* of the time, a control group; NAN: none has a quota */
    bool is_full;        /* it had no core to spare, or a group there had used up its quota, */
    bool is_thin;        /* and hardly for the job */
};

struct beside_job beside_job_of(const struct run_model *model, size_t group, int host);

/* The fullest host of which both is so; -1: none. */
int beside_job_find(const struct run_model *model, size_t group, struct beside_job *ret_beside);

/* Whether connections of the job lead to a process on that host that is not of the job: so one of
 * the others there may serve it. Where it has no process at all, the host's addresses are not
 * known, and any unknown address may be its own. */
bool host_may_serve_job(const struct run_model *model, int host);

#endif
