/* SPDX-License-Identifier: MIT */
/* The cores, the memory and the GPUs that a run had, and how much of them it used. */
#ifndef CHOKEPOINT_REPORTS_RUN_USE_H
#define CHOKEPOINT_REPORTS_RUN_USE_H

#include "reports/model/model.h"

/* Sums over all hosts of the run. Hosts that are one machine count once. NAN: not known. */
struct run_use {
    double cores;           /* of the hosts, or less by the CPU quota of a control group */
    double cores_used;      /* by the job, mean over the run; without a job by all programs */
    double memory_gb;       /* of the hosts, or less by the limit of a control group */
    double memory_peak_gb;  /* sum of each host's most, of the job as above */
    double gpus, gpus_used; /* used: sum of the mean shares of time with any work on them */
};

/* The report's model must not have been let go. -ENOMEM. */
int run_use_of(const struct report *report, struct run_use *ret_use);

#endif
