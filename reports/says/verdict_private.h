/* SPDX-License-Identifier: MIT */
/* The parts of the verdict's words. */
#ifndef CHOKEPOINT_REPORTS_SAYS_VERDICT_PRIVATE_H
#define CHOKEPOINT_REPORTS_SAYS_VERDICT_PRIVATE_H

#include "analysis/verdict/verdict.h"

/* The sentence of the verdict's candidate. Owned; NULL: no memory. */
char *verdict_candidate_sentence(const struct run_model *model, const struct verdict *verdict);

/* "", "probably ", "possibly ": the word of its sureness. Static. */
const char *verdict_doubt(const struct verdict *verdict);

/* Whether the candidate has its own sentence, which gives a different share of the run. */
bool verdict_has_own_sentence(const struct candidate *candidate);

/* Whether it names all hosts, each of which has nearly as much of the limit. */
bool verdict_is_of_all(const struct run_model *model, const struct verdict *verdict);
/* The share of the phase's time that its limit took: of all hosts that it names. */
double verdict_share(const struct run_model *model, const struct verdict *verdict);

/* Whether the limit held only from its start_s to its end_s, and that agrees with its share. */
bool verdict_has_span(const struct run_model *model, const struct verdict *verdict);

/* Mean MB/s that the candidate's link carries in the other direction; NAN. */
double verdict_back_rate(const struct run_model *model, const struct candidate *candidate);

/* Whether its gain is that of cores twice as fast: computing does not vanish. */
bool verdict_is_of_faster_cores(const struct candidate *candidate);

/* The part of the run that the gain covers. The limit names the process with most of a sleep, or
 * one direction of a link; the change also affects the host's other processes, or the other
 * direction. A gain beyond the named share says so. */
enum verdict_scope { SCOPE_OF_LIMIT, SCOPE_ALL_SLEEP, SCOPE_BOTH_WAYS };
enum verdict_scope verdict_gain_scope(const struct verdict *verdict);

/* Writes the share of the run that the candidate took: "10 % of the time in training, 9 to 11 % of
 * the whole run"; for a link both directions. */
void verdict_say_share(const struct run_model *model, const struct candidate *candidate,
                       const struct verdict *verdict, char *to, size_t size);

#endif
