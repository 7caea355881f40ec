/* SPDX-License-Identifier: MIT */
/*
 * Processes and hosts that did not run though nothing kept them waiting: a process that was
 * stopped, and a host that stood still. Then its agent missed several slots, and nothing else ran
 * on the host either. An agent that only had no core misses slots, too, but then other programs had
 * it.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_FROZEN_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_FROZEN_H

#include "analysis/run_model.h"

/* The share of scans of a process, in the windows, that found it stopped by a signal or a debugger;
 * 0 without scans. Scans are a second apart, so stops between them are missed.
 */
double process_stopped_part(const struct run_model *model, int host, int64_t pid,
                            struct windows windows);

/* How long the host stood still within the windows, s; NAN if its cores were not recorded. */
double host_frozen_s(const struct run_model *model, int host, struct windows windows);

#endif
