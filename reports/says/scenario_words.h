/* SPDX-License-Identifier: MIT */
/* A scenario as options of `chokepoint whatif`. */
#ifndef CHOKEPOINT_REPORTS_SAYS_SCENARIO_WORDS_H
#define CHOKEPOINT_REPORTS_SAYS_SCENARIO_WORDS_H

#include <stdbool.h>

#include "analysis/gain/whatif.h"

/* "--link vm2:egress=2x". Owned; NULL: no option expresses it, or no memory. */
char *scenario_options(const struct run_model *model, const struct whatif_scenario *scenario);

/* The scenario in words: "vm2's link twice as fast". Owned; NULL: no memory. */
char *scenario_words(const struct run_model *model, const struct whatif_scenario *scenario);
/* The thing that a factor changes: "vm2's link". Owned; NULL: no memory. */
char *scenario_object(const struct run_model *model, const struct whatif_scenario *scenario);

/* The name of a budget term for --without, "contention"; static; NULL: the term has no name
 * there. */
const char *scenario_term(enum budget_term term);
/* Finds the budget term of that name. */
bool scenario_term_of(const char *name, enum budget_term *ret_term);

#endif
