/* SPDX-License-Identifier: MIT */
/*
 * The part of each recorded process in the job. A launcher (mpirun, its daemons, a shell around the
 * program) is told by what it does: others of the job descend from it and do the work. Its name
 * says nothing.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_RECORDING_MEMBERS_H
#define CHOKEPOINT_ANALYSIS_FACTS_RECORDING_MEMBERS_H

#include "analysis/facts/recording/recording.h"

struct member {
    int rank;      /* as its launcher told it, else as MPI did; -1: none */
    bool job;      /* once of the job, always of the job: it may have been looked at as it ended */
    bool launcher; /* of the job, but nothing that should compute */
};

/* One for each series of RECORDING_PROCESS, in their order; the caller frees it. -ENOMEM. */
int members_find(const struct recording *recording, struct member **ret_members);

#endif
