/* SPDX-License-Identifier: MIT */
/* Run times of groups of runs, side by side: a bar of what the time went to, a point a run. */
#ifndef CHOKEPOINT_REPORTS_RUNS_H
#define CHOKEPOINT_REPORTS_RUNS_H

#include <stddef.h>

struct runs_part {
    const char *name, *colour; /* parts of one name have one colour */
    double seconds;
};

struct runs_row {
    const char *name;
    struct runs_part *parts; /* add up to the mean */
    size_t n_parts;
    const double *runs; /* seconds each */
    size_t n_runs;
};

/* An SVG, which the caller frees. NULL with errno: ENODATA, ENOMEM. */
char *runs_draw(const struct runs_row *rows, size_t n);

#endif
