/* SPDX-License-Identifier: MIT */
/*
 * Values that a program marked, as curves of the whole run (F1): how well it had learned at a time
 * or after a number of updates. Between two points the value is interpolated linearly.
 */
#ifndef CHOKEPOINT_REPORTS_CURVE_H
#define CHOKEPOINT_REPORTS_CURVE_H

#include "reports/model/model.h"

/* The curve with that name if only one rank marks it, since then it describes the whole run; else
 * NULL.
 */
const struct report_curve *curve_of_run(const struct report *report, const char *name);

/* y at x between the points; NAN outside. xs ascend. */
double curve_read_off(const double *xs, const double *ys, size_t n, double x);

#define CURVE_CLOSE .02 /* two tests this close allow interpolation */

/* y at x like curve_read_off(), but also NAN between two points further apart than CURVE_CLOSE. */
double curve_known_at(const double *xs, const double *ys, size_t n, double x);

/* The value of the counter of that name ("updates", "examples trained") at each point of a curve;
 * the caller frees it. NULL if there is no such counter, or no memory. */
double *curve_counts(const struct report *report, const struct report_curve *curve,
                     const char *counter);

/* Smooths a curve that turns at nearly every point, such as the loss of single batches: at each
 * point the mean of it and its neighbours, an eightieth of all points to each side, at least 4. The
 * caller frees it. NULL for a curve that is readable as it is (short, or it seldom turns), or
 * without memory.
 */
double *curve_running_mean(const struct report_curve *curve);

#endif
