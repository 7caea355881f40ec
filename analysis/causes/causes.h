/* SPDX-License-Identifier: MIT */
/* All causes, and their candidates in a run. */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_CAUSES_H
#define CHOKEPOINT_ANALYSIS_CAUSES_CAUSES_H

#include "analysis/causes/cause.h"
#include "analysis/gain/whatif.h"

/* The causes in the order in which they are asked; *ret_n: their number. */
const struct cause *const *causes_all(size_t *ret_n);

/* Finds candidates with their gains, the largest first. -ENOMEM. */
int causes_find(const struct run_model *model, const struct whatif *whatif,
                const struct stragglers *stragglers, struct candidates *ret_candidates);
/* For runs without calls: finds full links, and processes that their peers wait for, for what-if
 * questions. -ENOMEM. */
int causes_tell(const struct run_model *model, struct whatif *whatif);

/* Reads the judge of an ablation from a list "-CAUSE;NAME=VALUE;NAME*FACTOR;-source:NAME": causes
 * and sources to switch off and numbers to set. 0, -ENOMEM, or -EINVAL: *ret_bad is the invalid
 * word. */
int judge_read(const char *text, struct judge *ret_judge, const char **ret_bad);
void judge_release(struct judge *judge);

#endif
