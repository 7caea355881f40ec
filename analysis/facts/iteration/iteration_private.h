/* SPDX-License-Identifier: MIT */
/* Shared by the sources of iterations. */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_PRIVATE_H

#include "analysis/facts/iteration/iteration.h"

/* Whether iteration k of all ranks ends together. */
bool iterations_in_lockstep(const struct iterations *iterations);

/* Calls whose number and order do not depend on waiting. */
static inline bool iteration_counts_call(const struct mpi_log *log, const struct mpi_event *event) {
    const struct mpi_function *f = mpi_event_function(log, event);
    return mpi_event_is_call(event) && !f->in_rows && f->kind != MPI_KIND_TEST &&
           f->kind != MPI_KIND_PROBE && f->kind != MPI_KIND_ADMIN;
}

#endif
