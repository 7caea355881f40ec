/* SPDX-License-Identifier: MIT */
/* A loss to take away from a run, for the estimators that count iterations: terms of a rank or a
 * host, or a link.
 */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_LOSS_H
#define CHOKEPOINT_ANALYSIS_GAIN_LOSS_H

#include "analysis/gain/whatif.h"
#include "analysis/time/critical_path.h"

struct loss {
    int host, rank;  /* rank -1: all ranks of the host */
    size_t group;    /* of the run model */
    unsigned terms;  /* a mask of enum budget_term */
    double part;     /* the share of those terms on that host */
    bool all_hosts;  /* of all hosts, since budgets at both ends count transfers */
    bool everywhere; /* from all hosts at once */
    bool serves;     /* what a server does for others */
    bool link;       /* what `change` makes faster */
    struct whatif_scenario change;
};

/* Seconds of a part of the critical path that the loss takes. */
double loss_seconds(const struct loss *loss, const struct critical_part *part, size_t n_hosts);

#endif
