/* SPDX-License-Identifier: MIT */
/* Interfaces of a host beside each other: which one carries its traffic, and which other one leads
 * to the same hosts. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_INTERFACES_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_INTERFACES_H

#include "analysis/evidence/flows.h"

struct interface {
    const struct series *series;
    double mb_s;      /* moved in that direction during the group, mean */
    double rate_mb_s; /* what it can move: its speed, or the rate it is set to; NAN: not known */
};

struct interface_pair {
    struct interface used;  /* that which carried most */
    struct interface other; /* the fastest of those that carried less and lead to the same host */
    int peer;               /* that host: it has an interface in the network of either */
};

/* ceiling_mb_s: what the host's link is known to carry; NAN. False: there is no such pair. */
bool interfaces_find(const struct run_model *model, size_t group, int host, enum flow_side side,
                     double ceiling_mb_s, struct interface_pair *ret_pair);

#endif
