/* SPDX-License-Identifier: MIT */
/*
 * Processes and hosts that did not run though nothing kept them waiting: a process that was
 * stopped, and a host that stood still: its agent, which looks at every slot, looked at none for a
 * while, and meanwhile nothing on the host ran. An agent that only had no core misses slots as
 * well, but then others had it.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_FROZEN_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_FROZEN_H

#include "analysis/run_model.h"

/* Share of the looks at a process, in the windows, at which a signal or a debugger had it stopped;
 * 0 where nobody looked. Scans are a second apart, so stops in between are not seen. */
double process_stopped_part(const struct run_model *model, int host, int64_t pid,
                            struct windows windows);

/* For how long within the windows, s; NAN: nothing of its cores was recorded. */
double host_frozen_s(const struct run_model *model, int host, struct windows windows);

#endif
