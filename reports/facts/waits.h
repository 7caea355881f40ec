/* SPDX-License-Identifier: MIT */
/* Pairs of processes of which one waited for the other, where wait clocks tell. */
#ifndef CHOKEPOINT_REPORTS_FACTS_WAITS_H
#define CHOKEPOINT_REPORTS_FACTS_WAITS_H

#include "analysis/run_model.h"

struct report_wait { /* in the main phase; texts are the model's */
    int host, whom_host;
    const char *process, *whom;
    const char *what;          /* "message", "lock", "pipe", "end" */
    double seconds, share_pct; /* of the life of the one that waited */
};

struct waits {
    struct report_wait *items; /* the caller's to free; the longest first */
    size_t n, n_all;           /* that are shown; that are worth a row */
};

/* -ENOMEM. */
int waits_find(const struct run_model *model, struct waits *ret_waits);

#endif
