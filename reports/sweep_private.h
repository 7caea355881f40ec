/* SPDX-License-Identifier: MIT */
/* What the sweep*.c files share. */
#ifndef CHOKEPOINT_REPORTS_SWEEP_PRIVATE_H
#define CHOKEPOINT_REPORTS_SWEEP_PRIVATE_H

#include "reports/sweep.h"

/* -EINVAL: no such measure; -E2BIG. */
int sweep_add_measure(struct sweep *sweep, const char *word);
/* NAN where the run does not tell. */
double sweep_measure_run(const struct report *report, const struct sweep_measure *measure);

#endif
