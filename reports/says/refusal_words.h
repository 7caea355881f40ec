/* SPDX-License-Identifier: MIT */
/* The reason why there is no replay, as a clause: "no MPI calls were recorded". */
#ifndef CHOKEPOINT_REPORTS_SAYS_REFUSAL_WORDS_H
#define CHOKEPOINT_REPORTS_SAYS_REFUSAL_WORDS_H

#include "analysis/simulate/refusal.h"

/* Owned; NULL: no memory. REFUSAL_NONE has "". */
char *refusal_words(const struct refusal *refusal);

#endif
