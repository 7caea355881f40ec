/* SPDX-License-Identifier: MIT */
/* What the sources of iterations share. */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_PRIVATE_H

#include "analysis/facts/iteration/iteration.h"

/* Whether iteration k of all ranks ends together. */
bool iterations_in_lockstep(const struct iterations *iterations);

/* Roles of the ranks of the log, roles[log->n], numbered from 0: ranks that call MPI from mostly
 * the same places, about as often and with the same part in collectives (root or not). -ENOMEM. */
int call_roles(const struct mpi_log *log, int *roles);

#endif
