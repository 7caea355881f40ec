/* SPDX-License-Identifier: MIT */
/*
 * The start of a program that marks nothing and whose calls are not known: the time until all of
 * its hosts have exchanged data. Until then each host loads the program for itself, and its waits
 * (for files that are not cached yet) vanish in the next run. A start as long as a phase does not
 * count as one: what delays it is judged as a part of the run.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_PROGRAM_START_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_PROGRAM_START_H

#include "analysis/run_model.h"

/* When the program had been loaded, ns; 0 if it was not, or if that is not known. -ENOMEM. */
int program_started(const struct run_model *model, int64_t *ret_start_ns);

#endif
