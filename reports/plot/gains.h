/* SPDX-License-Identifier: MIT */
/* The run time at several factors of one change, as points: only these were asked for. */
#ifndef CHOKEPOINT_REPORTS_GAINS_H
#define CHOKEPOINT_REPORTS_GAINS_H

#include "reports/model/model.h"

/* SVG that the page's style colours; at least one point. Owned; NULL: no memory. */
char *gains_draw(const struct report_factors *factors);

#endif
