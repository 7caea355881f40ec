/* SPDX-License-Identifier: MIT */
/* Observations of wait clocks: how long others waited for a process, and its threads for each
 * other. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_AWAITED_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_AWAITED_H

#include "analysis/run_model.h"

/* The share of its time in the main group that a process waited for process `who` (a number of the
 * budgets), of the one that waited longest; 0: nobody waited for it. */
double awaited_share(const struct run_model *model, size_t who);

/* Seconds that threads of a process waited in sum for locks that others of its threads left. */
double awaited_lock_s(const struct run_model *model, size_t who, size_t group);

#endif
