/* SPDX-License-Identifier: MIT */
/*
 * A judged run: the only owner of all findings about it. Reports, comparisons and what-if questions
 * ask the same judgement, so that they cannot disagree.
 */
#ifndef CHOKEPOINT_ANALYSIS_VERDICT_JUDGEMENT_H
#define CHOKEPOINT_ANALYSIS_VERDICT_JUDGEMENT_H

#include "analysis/causes/candidate.h"
#include "analysis/verdict/verdict.h"

struct judgement {
    const struct run_model *model; /* borrowed; must outlive the judgement */
    struct whatif *whatif;
    struct stragglers stragglers;
    struct candidates candidates;
    struct verdict verdict;
};

/* Makes the input of questions without a verdict: finds stragglers. -ENOMEM. */
int judgement_prepare(const struct run_model *model, struct judgement *ret_judgement);
/* Makes the whole judgement. -ENOMEM. */
int judgement_make(const struct run_model *model, struct judgement *ret_judgement);
void judgement_release(struct judgement *judgement);

#endif
