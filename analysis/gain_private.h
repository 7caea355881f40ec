/* SPDX-License-Identifier: MIT */
/* What the files of gains by counters share. */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_GAIN_PRIVATE_H

#include "analysis/gain_counted.h"
#include "analysis/saturation.h"

#define LIVES 0.5 /* of the time, recorded */
#define BIT(term) (1u << (term))

/* Of process r of the budgets. */
const struct budget *gain_budget(const struct scene *scene, size_t r, size_t group);
/* Seconds of the terms. */
double gain_sum(const struct budget *budget, unsigned terms);
/* It waits for others so long, as far as that is known of it. */
double gain_waiting_s(const struct budget *budget);
/* It is no wrapper of another process. */
bool gain_works(const struct scene *scene, size_t r, size_t group);
/* Of the group's time, how much was recorded of it. */
double gain_covered(const struct scene *scene, size_t r, size_t group);

#endif
