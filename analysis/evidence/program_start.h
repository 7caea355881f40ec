/* SPDX-License-Identifier: MIT */
/*
 * The start of a program that marks nothing and whose calls are not known: the time until all of
 * its hosts have exchanged something. Until then each loads the program for itself, and what it
 * waits for (its files, which are in no cache yet) is gone with the next run. A start as long as a
 * phase is no such start: what holds it up is judged as of the whole run.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_PROGRAM_START_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_PROGRAM_START_H

#include "analysis/run_model.h"

/* Until when the program was being loaded, ns; 0: it was not, or not known. -ENOMEM. */
int program_started(const struct run_model *model, int64_t *ret_start_ns);

#endif
