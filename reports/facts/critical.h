/* SPDX-License-Identifier: MIT */
/* The critical path in parts: the resources of hosts that the run's time went through. */
#ifndef CHOKEPOINT_REPORTS_FACTS_CRITICAL_H
#define CHOKEPOINT_REPORTS_FACTS_CRITICAL_H

#include "analysis/run_model.h"

/* A part of the critical path of a phase. */
struct report_critical {
    size_t group; /* the phase */
    int host;     /* -1: not known */
    enum budget_term term;
    int to_host; /* of a transfer; -1: none, or not known */
    double seconds, share_pct;
};

struct critical_parts {
    struct report_critical *items; /* for the caller to free; by phase, the longest part first */
    size_t n;
};

/* -ENOMEM. */
int critical_parts_of(const struct run_model *model, struct critical_parts *ret_parts);

#endif
