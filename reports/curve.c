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

#define MEAN_POINTS_MIN 60
#define MEAN_TURNS 0.4 /* of its points: noise turns at two of three, a course hardly ever */
#define MEAN_SIDE_MIN 4

static bool is_zigzag(const struct report_curve *curve) {
    size_t turns = 0;
    for (size_t i = 1; i + 1 < curve->n; i++)
        turns +=
            (curve->value[i] - curve->value[i - 1]) * (curve->value[i + 1] - curve->value[i]) < 0;
    return curve->n >= MEAN_POINTS_MIN && (double)turns > MEAN_TURNS * (double)curve->n;
}

static double mean_about(const struct report_curve *curve, size_t at, size_t side) {
    double sum = 0;
    size_t known = 0;
    side = at < side ? at : side; /* as many on both sides, or the ends would lean */
    side = curve->n - 1 - at < side ? curve->n - 1 - at : side;
    for (size_t i = at - side; i <= at + side; i++)
        if (!isnan(curve->value[i])) {
            sum += curve->value[i];
            known++;
        }
    return known ? sum / (double)known : NAN;
}

double *curve_running_mean(const struct report_curve *curve) {
    size_t side = curve->n / 80 > MEAN_SIDE_MIN ? curve->n / 80 : MEAN_SIDE_MIN;
    double *means = is_zigzag(curve) ? calloc(curve->n, sizeof *means) : NULL;
    for (size_t i = 0; means && i < curve->n; i++)
        means[i] = mean_about(curve, i, side);
    return means;
}
