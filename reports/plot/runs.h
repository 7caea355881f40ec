/* SPDX-License-Identifier: MIT */
/* Run times of groups of runs, side by side: a bar of the parts of the time, and a point for each
 * run.
 */
#ifndef CHOKEPOINT_REPORTS_RUNS_H
#define CHOKEPOINT_REPORTS_RUNS_H

#include <stddef.h>

#define RUNS_LEFT 190 /* pixels of 980: names of the bars */

struct runs_part {
    const char *name, *colour; /* parts with one name have one colour */
    double seconds;
};

struct runs_row {
    const char *name;
    struct runs_part *parts; /* their sum is the mean */
    size_t n_parts;
    const double *runs; /* in seconds */
    size_t n_runs;
};

/* An SVG, which the caller frees. NULL with errno: ENODATA, ENOMEM. */
char *runs_draw(const struct runs_row *rows, size_t n);

#endif
