/* SPDX-License-Identifier: MIT */
/* The verdict of each phase, a line a phase, in each format that a person reads. Phases too short
 * for a table have none; nor has a run with one phase or none, whose verdict is said already. */
#ifndef CHOKEPOINT_REPORTS_PHASE_VERDICTS_H
#define CHOKEPOINT_REPORTS_PHASE_VERDICTS_H

#include <stdio.h>

#include "reports/model/model.h"

void text_put_phase_verdicts(FILE *out, const struct report *report);
void md_put_phase_verdicts(FILE *out, const struct report *report);
void html_put_phase_verdicts(FILE *out, const struct report *report);

/* What other phases than the main one wait for, "loading (12.0 s): ...; ...": for the screen, where
 * the verdict speaks of the main one. The caller's; NULL: nothing, or no memory. */
char *phase_verdicts_beside(const struct report *report);

#endif
