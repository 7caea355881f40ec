/* SPDX-License-Identifier: MIT */
/* The run time at several factors of one change, as points: only these factors were asked for. */
#ifndef CHOKEPOINT_REPORTS_GAINS_H
#define CHOKEPOINT_REPORTS_GAINS_H

#include "reports/facts/changes.h"

#define GAINS_LEFT 60 /* pixels of 980: numbers of the axis */

/* SVG coloured by the page's style; factors must have at least one point. The caller frees it; NULL
 * without memory.
 */
char *gains_draw(const struct report_factors *factors);

#endif
