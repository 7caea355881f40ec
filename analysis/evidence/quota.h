/* SPDX-License-Identifier: MIT */
/* The CPU quota of control groups, as the kernel counts it. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_QUOTA_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_QUOTA_H

#include "analysis/run_model.h"

struct quota {
    double throttled; /* share of time, at most 1 over all cores together */
    double cores;     /* CPUs that it may use; NAN */
};

/* The group of the host that was throttled most, since groups contain each other. */
struct quota quota_of(const struct run_model *model, int host, struct windows windows);
/* The largest part of its quota that a control group of the host used, at most what the job used
 * there: job_cores. NAN: no group has a quota. */
double quota_used(const struct run_model *model, int host, struct windows windows,
                  double job_cores);
/* The share of the run for which a quota throttled a control group of the host; NAN if there is
 * none.
 */
double quota_throttled(const struct run_model *model, int host);

#endif
