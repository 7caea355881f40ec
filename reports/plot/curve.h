/* SPDX-License-Identifier: MIT */
/*
 * Values a program marked, read as curves of the run as a whole (F1): how well it had learned at a
 * time or after so many updates. Between two points a value is read off the straight line between
 * them.
 */
#ifndef CHOKEPOINT_REPORTS_CURVE_H
#define CHOKEPOINT_REPORTS_CURVE_H

#include "reports/model/model.h"

/* The curve of that name if one rank alone marks it, for it speaks of the whole run; else NULL. */
const struct report_curve *curve_of_run(const struct report *report, const char *name);

/* y at x between the points; NAN outside. xs ascend. */
double curve_read_off(const double *xs, const double *ys, size_t n, double x);

#define CURVE_CLOSE .02 /* two tests this near say what lies between them */

/* The same, but NAN as well between two points that are further apart than CURVE_CLOSE. */
double curve_known_at(const double *xs, const double *ys, size_t n, double x);

/* The value of the counter of that name ("updates", "examples trained") at each point of a curve;
 * the caller frees it. NULL if there is no such counter, or no memory. */
double *curve_counts(const struct report *report, const struct report_curve *curve,
                     const char *counter);

/* Smooths a curve that turns at nearly every point, as the loss of single batches does: at each
 * point the mean of it and its neighbours, an eightieth of all to each side, 4 at least. The caller
 * frees it. NULL for a curve that can be read as it is (short, or it seldom turns), or without
 * memory. */
double *curve_running_mean(const struct report_curve *curve);

#endif
