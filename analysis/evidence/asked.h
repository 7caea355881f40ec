/* SPDX-License-Identifier: MIT */
/* The use that a job makes of its hosts. A job that asks nothing of them is idle: its processes
 * sleep.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_ASKED_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_ASKED_H

#include "analysis/run_model.h"

/* Cores that the job used or wanted on all hosts in the main phase; NAN if that is not known. */
double asked_cores(const struct run_model *model);

/* Whether the job used and wanted less of its hosts than is worth a verdict. */
bool asks_nothing(const struct run_model *model);

#endif
