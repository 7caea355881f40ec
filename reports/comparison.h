/* SPDX-License-Identifier: MIT */
/*
 * Two or more runs side by side (T2, T3, T5, F1), differences against a baseline, and whether they
 * are established.
 */
#ifndef CHOKEPOINT_REPORTS_COMPARISON_H
#define CHOKEPOINT_REPORTS_COMPARISON_H

#include "reports/model.h"

/* One compared quantity over all runs: value[run]. */
struct comparison_row {
    char *label; /* "vm1 net_send" */
    int host;    /* of the first run, -1 for the whole run */
    const char *unit;
    double *value;
    double *difference; /* against the baseline's; NAN for the baseline itself */
    /* owned; NULL for the baseline. "not established: 1 run each ..." and the like; never
     * "faster" without repeats */
    char **judgement;
};

struct comparison {
    struct report *
        *runs; /* owned; `n` of them; runs[baseline] is what the others are held against */
    size_t n, baseline;
    struct comparison_row *summary; /* duration, s an iteration, updates/s, accuracy ... (T5, T3) */
    size_t n_summary;
    struct comparison_row *resources; /* T1's rows: row by row, in each all hosts of the baseline */
    size_t n_resources;
    char **notes; /* what makes the comparison lame: other hosts, other commands, gaps */
    size_t n_notes;
};

/* Takes the reports over on success. */
int comparison_build(struct report **runs, size_t n, size_t baseline,
                     struct comparison **ret_comparison);
void comparison_free(struct comparison *comparison);

#endif
