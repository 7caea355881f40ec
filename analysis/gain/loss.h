/* SPDX-License-Identifier: MIT */
/* A loss that is taken away from a run, for the estimators that count iterations: which terms of
 * whose time, or which link. */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_LOSS_H
#define CHOKEPOINT_ANALYSIS_GAIN_LOSS_H

#include "analysis/gain/whatif.h"
#include "analysis/time/critical_path.h"

struct loss {
    int host, rank;  /* rank: -1, all of the host */
    size_t group;    /* of the run model */
    unsigned terms;  /* bits of enum budget_term */
    double part;     /* of those terms on that host, what is meant */
    bool all_hosts;  /* of all hosts: data are on their way in the budget of either end */
    bool everywhere; /* the same from all hosts at once */
    bool serves;     /* what a server does for others */
    bool link;       /* what `change` makes faster */
    struct whatif_scenario change;
};

/* Seconds of a part of the critical path that the loss takes up. */
double loss_seconds(const struct loss *loss, const struct critical_part *part, size_t n_hosts);

#endif
