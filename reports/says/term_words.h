/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_REPORTS_SAYS_TERM_WORDS_H
#define CHOKEPOINT_REPORTS_SAYS_TERM_WORDS_H

#include "analysis/time/budget.h"

/* "computing", "waiting for a peer", ...; static. */
const char *budget_term_words(enum budget_term term);

#endif
