/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_REPORTS_COMPARISON_PRIVATE_H
#define CHOKEPOINT_REPORTS_COMPARISON_PRIVATE_H

#include "reports/comparison.h"

/* Fills the judgements of all rows. -ENOMEM. */
int comparison_judge(struct comparison *c);

#endif
