/* SPDX-License-Identifier: MIT */
#include "reports/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct report_curve *curve_of_run(const struct report *report, const char *name) {
    const struct report_curve *found = NULL;
    for (size_t i = 0; i < report->n_curves; i++) {
        if (strcmp(report->curves[i].name, name) != 0)
            continue;
        if (found)
            return NULL;
        found = &report->curves[i];
    }
    return found && found->n ? found : NULL;
}

double curve_read_off(const double *xs, const double *ys, size_t n, double x) {
    for (size_t i = 0; i < n; i++) {
        if (xs[i] == x)
            return ys[i];
        if (i && xs[i - 1] < x && x < xs[i])
            return ys[i - 1] + (ys[i] - ys[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1]);
    }
    return NAN;
}

double curve_known_at(const double *xs, const double *ys, size_t n, double x) {
    for (size_t i = 1; i < n; i++)
        if (xs[i - 1] < x && x < xs[i] && !(fabs(ys[i] - ys[i - 1]) <= CURVE_CLOSE))
            return NAN;
    return curve_read_off(xs, ys, n, x);
}

double *curve_counts(const struct report *report, const struct report_curve *curve,
                     const char *counter) {
    const struct report_curve *counts = curve_of_run(report, counter);
    double *at = counts ? calloc(curve->n + 1, sizeof *at) : NULL;
    for (size_t i = 0; at && i < curve->n; i++) {
        double last = counts->t_s[counts->n - 1];
        /* the counts of a test are marked just before or after its results */
        at[i] = curve->t_s[i] >= last ? counts->value[counts->n - 1]
                                      : curve_read_off(counts->t_s, counts->value, counts->n,
                                                       fmax(curve->t_s[i], counts->t_s[0]));
    }
    return at;
}
