/* SPDX-License-Identifier: MIT */
/* The CPU quota of control groups, as the kernel counts it. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_QUOTA_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_QUOTA_H

#include "analysis/run_model.h"

struct quota {
    double throttled; /* share of the time, of all cores together at most 1 */
    double cores;     /* what it may use; NAN */
};

/* The group of the host that was throttled most: groups lie in each other. */
struct quota quota_of(const struct run_model *model, int host, struct windows windows);
/* Share of the run for which a quota kept a control group of the host from running; NAN: none. */
double quota_throttled(const struct run_model *model, int host);

#endif
