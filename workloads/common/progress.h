/* SPDX-License-Identifier: MIT */
/*
 * How far a run is, on standard error: one line redrawn on a terminal, else a new line every five
 * seconds at most, so that a log stays readable.
 */
#ifndef CHOKEPOINT_WORKLOADS_PROGRESS_H
#define CHOKEPOINT_WORKLOADS_PROGRESS_H

#include <stdbool.h>

struct progress {
    bool quiet, terminal;
    double started_s, shown_s, limit_s;
};

/* limit_s: the run ends by then in any case; 0 for none. */
void progress_start(struct progress *progress, bool quiet, double limit_s);

/* done of total, and what else there is to say. `now`: whether or not it is time for a line. */
void progress_show(struct progress *progress, const char *label, double done, double total,
                   const char *text, bool now);

void progress_end(struct progress *progress);

#endif
