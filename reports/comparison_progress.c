/* SPDX-License-Identifier: MIT */
/*
 * How well the programs had learned at equal time and after equal updates: the last values of a
 * fast run and a long one say nothing about which learns better. Equal time is the latest at which
 * every run that counts has been tested, likewise equal updates. Between two tests a value is read
 * off the straight line between them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/comparison_private.h"

static const char *const qualities[] = {"accuracy", "test loss", "loss", "error"};

static size_t ranks_of(const struct report *report, const char *name) {
    size_t n = 0;
    for (size_t i = 0; i < report->n_curves; i++)
        n += strcmp(report->curves[i].name, name) == 0;
    return n;
}

/* The curve of that name if one rank alone marks it. */
static const struct report_curve *curve_of(const struct report *report, const char *name) {
    if (ranks_of(report, name) != 1)
        return NULL;
    for (size_t i = 0; i < report->n_curves; i++)
        if (strcmp(report->curves[i].name, name) == 0)
            return report->curves[i].n ? &report->curves[i] : NULL;
    return NULL;
}

/* y at x between the points; NAN outside. xs ascend. */
static double read_off(const double *xs, const double *ys, size_t n, double x) {
    for (size_t i = 0; i < n; i++) {
        if (xs[i] == x)
            return ys[i];
        if (i && xs[i - 1] < x && x < xs[i])
            return ys[i - 1] + (ys[i] - ys[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1]);
    }
    return NAN;
}

/* How many updates had been made at each point of a curve; the caller frees it. */
static double *updates_at(const struct report *report, const struct report_curve *curve) {
    const struct report_curve *updates = curve_of(report, "updates");
    double *at = updates ? calloc(curve->n + 1, sizeof *at) : NULL;
    for (size_t i = 0; at && i < curve->n; i++) {
        double last = updates->t_s[updates->n - 1];
        /* the updates of a test are marked just before or after its results */
        at[i] = curve->t_s[i] >= last ? updates->value[updates->n - 1]
                                      : read_off(updates->t_s, updates->value, updates->n,
                                                 fmax(curve->t_s[i], updates->t_s[0]));
    }
    return at;
}

/* Where the run ends that ends first, on an axis. NAN if some run has no such curve. */
static double common_end(const struct comparison *c, const char *name, bool by_updates) {
    double end = INFINITY;
    for (size_t i = 0; i < c->n; i++) {
        const struct report_curve *curve = curve_of(c->runs[i], name);
        if (!comparison_counts(c, i))
            continue;
        double *updates = curve && by_updates ? updates_at(c->runs[i], curve) : NULL;
        if (!curve || (by_updates && !updates))
            return free(updates), NAN;
        double own = by_updates ? updates[curve->n - 1] : curve->t_s[curve->n - 1];
        free(updates);
        end = isnan(own) ? NAN : fmin(end, own);
        if (isnan(end))
            return NAN;
    }
    return isfinite(end) && end > 0 ? end : NAN;
}

static int add(struct comparison *c, const char *name, bool by_updates, double *values) {
    double at = common_end(c, name, by_updates);
    int error;
    if (isnan(at))
        return 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct report_curve *curve = curve_of(c->runs[i], name);
        double *updates = curve && by_updates ? updates_at(c->runs[i], curve) : NULL;
        values[i] = curve && (updates || !by_updates)
                        ? read_off(by_updates ? updates : curve->t_s, curve->value, curve->n, at)
                        : NAN;
        free(updates);
    }
    const struct comparison_row row = {.label = by_updates
                                                    ? text_format("%s at %.0f updates", name, at)
                                                    : text_format("%s at %.2f s", name, at),
                                       .host = -1,
                                       .unit = "",
                                       .section = COMPARISON_PROGRESS};
    comparison_add_row(c, &c->summary, &c->n_summary, &row, values, &error);
    return error;
}

int comparison_fill_progress(struct comparison *c) {
    double *values = calloc(c->n + 1, sizeof *values);
    int result = values ? 0 : -ENOMEM;
    for (size_t q = 0; result == 0 && q < ARRAY_SIZE(qualities); q++) {
        result = add(c, qualities[q], false, values);
        if (result == 0)
            result = add(c, qualities[q], true, values);
    }
    free(values);
    return result;
}
