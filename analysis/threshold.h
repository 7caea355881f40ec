/* SPDX-License-Identifier: MIT */
/*
 * The numbers that judge (thresholds.def), as variables: the same for all of a process, and set by
 * nothing but an ablation, before anything is judged.
 */
#ifndef CHOKEPOINT_ANALYSIS_THRESHOLD_H
#define CHOKEPOINT_ANALYSIS_THRESHOLD_H

#include <stddef.h>

#define THRESHOLD(name, value, unit, rule, reason) extern double name;
#include "analysis/thresholds.def"
#undef THRESHOLD

struct threshold {
    const char *name, *unit, *rule, *reason; /* static */
    double *value;
    double usual; /* value before any ablation */
};

/* All of them; *ret_n. */
const struct threshold *threshold_list(size_t *ret_n);
/* NULL: there is none of that name. */
const struct threshold *threshold_find(const char *name, size_t length);

#endif
