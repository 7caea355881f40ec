/* SPDX-License-Identifier: MIT */
/* Shared by the sources of iterations. */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_PRIVATE_H

#include "analysis/facts/iteration/iteration.h"

/* Whether iteration k of all ranks ends together. */
bool iterations_in_lockstep(const struct iterations *iterations);

#endif
