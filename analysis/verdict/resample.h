/* SPDX-License-Identifier: MIT */
/*
 * How much a verdict hangs on single moments: the run is cut into blocks (of iterations, where the
 * critical path knows them, else slices of time), blocks are drawn again with replacement, and each
 * drawing is asked who is first and for how long.
 */
#ifndef CHOKEPOINT_ANALYSIS_VERDICT_RESAMPLE_H
#define CHOKEPOINT_ANALYSIS_VERDICT_RESAMPLE_H

#include "analysis/causes/candidate.h"

struct resampled {
    double first;     /* share of drawings in which candidate 0 is first */
    double low, high; /* 95 % of its share of the run's time */
    double margin;    /* mean lead over the second, relative: 1 without a second */
};

/* Resamples candidates[0] against the others. Deterministic. -ENOMEM. */
int resample_candidates(const struct run_model *model, const struct candidates *candidates,
                        struct resampled *ret_resampled);

#endif
