/* SPDX-License-Identifier: MIT */
/* The parts of the verdict's words. */
#ifndef CHOKEPOINT_REPORTS_WORDS_VERDICT_PRIVATE_H
#define CHOKEPOINT_REPORTS_WORDS_VERDICT_PRIVATE_H

#include "analysis/verdict/verdict.h"

/* The sentence of the verdict's candidate. Owned; NULL: no memory. */
char *verdict_candidate_sentence(const struct run_model *model, const struct verdict *verdict);

#endif
