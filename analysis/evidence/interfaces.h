/* SPDX-License-Identifier: MIT */
/* Compares the interfaces of a host: the one that carries its traffic, and another one that leads
 * to the same hosts.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_INTERFACES_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_INTERFACES_H

#include "analysis/evidence/flows.h"

struct interface {
    const struct series *series;
    double mb_s;      /* mean rate in that direction during the group */
    double rate_mb_s; /* its speed, or the rate that it is set to; NAN: not known */
};

struct interface_pair {
    struct interface used;  /* the one that carried most */
    struct interface other; /* the fastest of those that carried less and lead to the same host */
    int peer;               /* that host: it has an interface in both networks */
};

/* ceiling_mb_s: known capacity of the host's link, or NAN. False if there is no such pair. */
bool interfaces_find(const struct run_model *model, size_t group, int host, enum flow_side side,
                     double ceiling_mb_s, struct interface_pair *ret_pair);

#endif
