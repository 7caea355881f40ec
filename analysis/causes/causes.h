/* SPDX-License-Identifier: MIT */
/* All causes, and what they find in a run. */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_CAUSES_H
#define CHOKEPOINT_ANALYSIS_CAUSES_CAUSES_H

#include "analysis/causes/cause.h"
#include "analysis/gain/whatif.h"

/* In the order in which they are asked; *ret_n. */
const struct cause *const *causes_all(size_t *ret_n);

/* Candidates with their gains, the greatest first. -ENOMEM. */
int causes_find(const struct run_model *model, const struct whatif *whatif,
                const struct stragglers *stragglers, struct candidates *ret_candidates);
/* Where no calls are known: tells what-if questions which links are full, and which processes their
 * peers wait for. -ENOMEM. */
int causes_tell(const struct run_model *model, struct whatif *whatif);

/* The judge as an ablation wants it: a list "-CAUSE;NAME=VALUE;NAME*FACTOR;-source:NAME" of causes
 * and sources that are off and numbers that are set. 0, -ENOMEM, or -EINVAL: *ret_bad is the word
 * that makes no sense. */
int judge_read(const char *text, struct judge *ret_judge, const char **ret_bad);
void judge_release(struct judge *judge);

#endif
