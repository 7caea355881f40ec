/* SPDX-License-Identifier: MIT */
/* The verdict's limit over time: its share in equal stretches of the run. */
#ifndef CHOKEPOINT_REPORTS_FACTS_LEVELS_H
#define CHOKEPOINT_REPORTS_FACTS_LEVELS_H

#include "analysis/verdict/judgement.h"

#define LIMIT_LEVELS RANK_BUDGET_SLICES

struct limit_levels {
    double share[LIMIT_LEVELS]; /* 0 to 1; NAN: not known */
    bool known;
};

struct limit_levels limit_levels_of(const struct judgement *judgement);

#endif
