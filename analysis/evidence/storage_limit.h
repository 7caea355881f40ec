/* SPDX-License-Identifier: MIT */
/* The limits on reading and writing of a host's control groups, and how nearly they were reached.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_STORAGE_LIMIT_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_STORAGE_LIMIT_H

#include "analysis/run_model.h"

struct storage_limit {
    const struct series *group; /* of the table of control groups */
    bool writes, operations;    /* else reads; else bytes */
    double limit;               /* a second */
    double moved;               /* a second of the time in which the job waited */
};

/* The limit that a group of the host came nearest to, within waited_s of the windows. The same
 * bytes or operations in less time are more than it may start, so all of them count as if they were
 * moved while the job waited. False if no group has one.
 */
bool storage_limit_nearest(const struct run_model *model, int host, struct windows windows,
                           double waited_s, struct storage_limit *ret_limit);

#endif
