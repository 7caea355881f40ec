/* SPDX-License-Identifier: MIT */
/*
 * The progress of a run on standard error: one line redrawn on a terminal, else a new line every
 * five seconds at most (one second if there is news), so that a log stays readable.
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

/* Shows done of total, and a further text; worth_a_line: the text is news. */
void progress_show(struct progress *progress, const char *label, double done, double total,
                   const char *text, bool worth_a_line);

void progress_end(struct progress *progress);

#endif
