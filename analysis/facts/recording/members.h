/* SPDX-License-Identifier: MIT */
/*
 * The part of each recorded process in the job. A launcher (mpirun, its daemons, a shell around the
 * program) is recognised by its behaviour: other processes of the job descend from it and do the
 * work. Its name does not count.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_RECORDING_MEMBERS_H
#define CHOKEPOINT_ANALYSIS_FACTS_RECORDING_MEMBERS_H

#include "analysis/facts/recording/recording.h"

struct member {
    int rank;      /* the launcher's rank number, else the one of MPI; -1: none */
    bool job;      /* a process that ever was of the job counts: samples at its end may miss it */
    bool launcher; /* of the job, but only starts other processes */
};

/* One for each series of RECORDING_PROCESS, in the same order; the caller frees it. -ENOMEM. */
int members_find(const struct recording *recording, struct member **ret_members);

#endif
