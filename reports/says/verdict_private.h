/* SPDX-License-Identifier: MIT */
/* The parts of the verdict's words. */
#ifndef CHOKEPOINT_REPORTS_SAYS_VERDICT_PRIVATE_H
#define CHOKEPOINT_REPORTS_SAYS_VERDICT_PRIVATE_H

#include "analysis/verdict/verdict.h"

/* The sentence of the verdict's candidate. Owned; NULL: no memory. */
char *verdict_candidate_sentence(const struct run_model *model, const struct verdict *verdict);

/* It has a sentence of its own, in which its share of the run is another one. */
bool verdict_has_own_sentence(const struct candidate *candidate);

/* MB/s that the candidate's link carries in the other direction, mean; NAN. */
double verdict_back_rate(const struct run_model *model, const struct candidate *candidate);

/* The limit is told of the process that has most of a sleep, or of one way of a link; the change
 * concerns the host's other processes and the other way as well. A gain beyond the share that is
 * told says so. */
enum verdict_scope { SCOPE_OF_LIMIT, SCOPE_ALL_SLEEP, SCOPE_BOTH_WAYS };
enum verdict_scope verdict_gain_scope(const struct verdict *verdict);

/* The share of the run that the candidate took, "10 % of the time in training, 9 to 11 % of the
 * whole run"; of a link both ways. */
void verdict_say_share(const struct run_model *model, const struct candidate *candidate,
                       const struct verdict *verdict, char *to, size_t size);

#endif
