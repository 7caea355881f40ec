/* SPDX-License-Identifier: MIT */
/*
 * A host that stood still: its agent, which looks at every slot, looked at none for a while, and
 * meanwhile nothing on the host ran. An agent that only had no core misses slots as well, but then
 * others had it.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_FROZEN_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_FROZEN_H

#include "analysis/run_model.h"

/* For how long within the windows, s; NAN: nothing of its cores was recorded. */
double host_frozen_s(const struct run_model *model, int host, struct windows windows);

#endif
