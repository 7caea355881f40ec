/* SPDX-License-Identifier: MIT */
#include "reports/plot/curve.h"

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
#define MEAN_TURNS 0.4 /* of its points: noise turns at two of three, a trend hardly ever */
#define MEAN_SIDE_MIN 4

static bool is_zigzag(const struct report_curve *curve) {
    size_t turns = 0;
    for (size_t i = 1; i + 1 < curve->n; i++)
        turns +=
            (curve->value[i] - curve->value[i - 1]) * (curve->value[i + 1] - curve->value[i]) < 0;
    return curve->n >= MEAN_POINTS_MIN && (double)turns > MEAN_TURNS * (double)curve->n;
}

/* Sum and number of the known values in a stretch. */
struct stretch {
    double sum;
    size_t known;
};

static struct stretch together(struct stretch a, struct stretch b) {
    return (struct stretch){a.sum + b.sum, a.known + b.known};
}

/* Running sums in blocks as long as the widest window: from the begin of the block to each value,
 * and from each value to the end of the block. A window is no longer, so two of them give its sum,
 * by additions only. So a value of 1e20 has no effect once it is outside, unlike with differences
 * of total sums.
 */
struct blocks {
    size_t n, width;
    struct stretch *to, *from; /* owned */
};

static bool blocks_of(const struct report_curve *curve, size_t width, struct blocks *ret_blocks) {
    size_t n = curve->n;
    struct blocks b = {n, width, calloc(n, sizeof *b.to), calloc(n, sizeof *b.from)};
    *ret_blocks = b;
    if (!b.to || !b.from)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isnan(curve->value[i]))
            b.to[i] = b.from[i] = (struct stretch){curve->value[i], 1};
    for (size_t i = 1; i < n; i++)
        if (i % width != 0)
            b.to[i] = together(b.to[i - 1], b.to[i]);
    for (size_t i = n - 1; i-- > 0;)
        if ((i + 1) % width != 0)
            b.from[i] = together(b.from[i], b.from[i + 1]);
    return true;
}

/* Mean of the window around a point, with equally many values on both sides: otherwise the ends
 * would be biased.
 */
static double mean_about(const struct blocks *b, size_t at) {
    size_t side = b->width / 2;
    side = at < side ? at : side;
    side = b->n - 1 - at < side ? b->n - 1 - at : side;
    size_t first = at - side, last = at + side;
    /* within a block it begins with it, or ends with the last value */
    struct stretch whole = first / b->width != last / b->width
                               ? together(b->from[first], b->to[last])
                           : first % b->width == 0 ? b->to[last]
                                                   : b->from[first];
    return whole.known ? whole.sum / (double)whole.known : NAN;
}

double *curve_running_mean(const struct report_curve *curve) {
    size_t side = curve->n / 80 > MEAN_SIDE_MIN ? curve->n / 80 : MEAN_SIDE_MIN;
    struct blocks blocks = {0};
    double *means = is_zigzag(curve) && blocks_of(curve, 2 * side + 1, &blocks)
                        ? calloc(curve->n, sizeof *means)
                        : NULL;
    for (size_t i = 0; means && i < curve->n; i++)
        means[i] = mean_about(&blocks, i);
    free(blocks.to);
    free(blocks.from);
    return means;
}
