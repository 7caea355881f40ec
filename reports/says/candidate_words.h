/* SPDX-License-Identifier: MIT */
/* The names of what candidates are of: a resource, a phase, a host and why it is short. */
#ifndef CHOKEPOINT_REPORTS_SAYS_CANDIDATE_WORDS_H
#define CHOKEPOINT_REPORTS_SAYS_CANDIDATE_WORDS_H

#include <stdbool.h>

#include "analysis/causes/candidate.h"

/* "network (sending)"; static. */
const char *resource_words(enum resource resource);
/* The phase's name, or "the whole run"; the model's. */
const char *group_words(const struct run_model *model, size_t group);
/* "phase " before the name of one that the program did not mark: "idle" alone is none. */
const char *group_before(const struct run_model *model, size_t group);
/* The short resource, and the reason: "vm2's CPU (contention with sh[7])", "vm2, where rank 1
 * sleeps". Owned; NULL: no memory. */
char *candidate_words(const struct run_model *model, const struct candidate *candidate);
/* The words at the beginning of a cause that a sentence with its own subject leaves out: "serial:
 * "; static. "" of most. */
const char *cause_label(const struct remark_kind *cause);
/* The cause is a clause with a subject: "rank 1 sleeps in its own code". */
bool cause_is_clause(const struct remark *cause);

#endif
