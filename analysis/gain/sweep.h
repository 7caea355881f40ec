/* SPDX-License-Identifier: MIT */
/*
 * Each resource of each host is asked for before a verdict says that there is nothing: no run is
 * balanced, or of unknown limit, whose own what-if takes a good part off it.
 */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_SWEEP_H
#define CHOKEPOINT_ANALYSIS_GAIN_SWEEP_H

#include <stddef.h>

#include "analysis/gain/whatif.h"

#define SWEEP_FASTER 1000 /* times as fast: it holds up nobody any more */

struct sweep_answer {
    struct whatif_scenario scenario; /* its host is the subject; -1: all hosts */
    enum budget_term term;           /* the resource */
    struct whatif_answer answer;
};

struct whatif_sweep {
    struct sweep_answer *items; /* what may matter by its bound: each resource of each host, and of
                                   all */
    size_t n;
    double untold; /* the most that a question which nothing answers could take off the phase; 0 if
                      all were answered or do not matter */
};

/* Asks once; later calls give the same. The whatif owns it, and whatif_tell() forgets it. -ENOMEM.
 */
int whatif_sweep_make(const struct whatif *whatif, const struct whatif_sweep **ret_sweep);

/* The answer that takes most off the whole run, or NULL if none takes off anything. Terms of the
 * mask `but` are left out (bits of enum budget_term): computing, where "compute bound" is said. All
 * hosts are the subject only if that takes off GAIN_MIN more than any single one.
 */
const struct sweep_answer *whatif_sweep_best(const struct run_model *model,
                                             const struct whatif_sweep *sweep, unsigned but);

void whatif_sweep_free(struct whatif_sweep *sweep);

#endif
