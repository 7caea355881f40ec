/* SPDX-License-Identifier: MIT */
/*
 * Measures how much a verdict depends on single moments. The run is cut into blocks: iterations if
 * the critical path has them, else slices of time. Blocks are drawn again with replacement, and
 * each drawing shows which candidate is first and for how long.
 */
#ifndef CHOKEPOINT_ANALYSIS_VERDICT_RESAMPLE_H
#define CHOKEPOINT_ANALYSIS_VERDICT_RESAMPLE_H

#include "analysis/causes/candidate.h"

struct resampled {
    double first;     /* share of drawings in which candidate 0 is first */
    double low, high; /* 95 % of its share of the run's time */
    double margin;    /* mean relative lead over the second; 1: there is no second */
};

/* Resamples candidates[0] against the others. Deterministic. -ENOMEM. */
int resample_candidates(const struct run_model *model, const struct candidates *candidates,
                        struct resampled *ret_resampled);

#endif
