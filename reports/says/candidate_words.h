/* SPDX-License-Identifier: MIT */
/* Words for parts of a candidate: its resource, its phase, its host and its reason. */
#ifndef CHOKEPOINT_REPORTS_SAYS_CANDIDATE_WORDS_H
#define CHOKEPOINT_REPORTS_SAYS_CANDIDATE_WORDS_H

#include <stdbool.h>

#include "analysis/causes/candidate.h"

/* "network (sending)"; static. */
const char *resource_words(enum resource resource);
/* The phase's name, or "the whole run"; owned by the model. */
const char *group_words(const struct run_model *model, size_t group);
/* "phase " for the name of a phase that the program did not mark, since "idle" alone does not sound
 * like one; else "". */
const char *group_before(const struct run_model *model, size_t group);
/* The short resource and its reason: "vm2's CPU (contention with sh[7])", "vm2, where rank 1
 * sleeps". Owned; NULL: no memory. */
char *candidate_words(const struct run_model *model, const struct candidate *candidate);
/* The first words of a cause that a sentence with its own subject leaves out: "serial: "; static.
 * Most causes have "". */
const char *cause_label(const struct remark_kind *cause);
/* Whether the cause is a clause with a subject: "rank 1 sleeps in its own code". */
bool cause_is_clause(const struct remark *cause);

#endif
