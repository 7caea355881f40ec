/* SPDX-License-Identifier: MIT */
/* Pairs of processes of which one waited for the other, from wait clocks. */
#ifndef CHOKEPOINT_REPORTS_FACTS_WAITS_H
#define CHOKEPOINT_REPORTS_FACTS_WAITS_H

#include "analysis/run_model.h"

struct report_wait { /* in the main phase; the model owns the texts */
    int host, whom_host;
    const char *process, *whom;
    const char *what;          /* "message", "lock", "pipe", "end" */
    double seconds, share_pct; /* share of the waiter's life */
};

struct waits {
    struct report_wait *items; /* for the caller to free; the longest first */
    size_t n, n_all;           /* number shown; number worth a row */
};

/* -ENOMEM. */
int waits_find(const struct run_model *model, struct waits *ret_waits);

#endif
