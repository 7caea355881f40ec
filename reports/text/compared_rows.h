/* SPDX-License-Identifier: MIT */
/*
 * The figures of a comparison on a screen. Each group of runs has a column; beside its value stands
 * the factor from the baseline, where both are something.
 */
#ifndef CHOKEPOINT_REPORTS_COMPARED_ROWS_H
#define CHOKEPOINT_REPORTS_COMPARED_ROWS_H

#include <stdio.h>

#include "reports/comparison/comparison.h"

#define COMPARED_GROUPS_MAX 3 /* columns that fit */

/* The groups that are shown, the baseline first. */
struct compared_shown {
    size_t group[COMPARED_GROUPS_MAX];
    size_t n;
};

struct compared_shown compared_choose(const struct comparison *comparison);

/* Writes names, run times, their parts and what else changed, in at most `lines` lines, of which it
 * needs COMPARED_ROWS_MIN. -ENOMEM. */
#define COMPARED_ROWS_MIN 5
int compared_put_rows(FILE *out, const struct comparison *comparison,
                      const struct compared_shown *shown, size_t lines);

#endif
