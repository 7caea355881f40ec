/* SPDX-License-Identifier: MIT */
/*
 * How well the programs had learned at equal time and after equal updates: the last values of a
 * fast run and a long one do not show which learns better. Equal time is the latest time by which
 * every counted run has been tested, and equal updates are the most by which every one has. Between
 * two tests far apart nothing is known.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/comparison/comparison_private.h"
#include "reports/plot/curve.h"

static const char *const qualities[] = {"accuracy", "test loss", "loss", "error"};

/* Where the run that ends first ends, on an axis. NAN if some run has no such curve. */
static double common_end(const struct comparison *c, const char *name, bool by_updates) {
    double end = INFINITY;
    for (size_t i = 0; i < c->n; i++) {
        const struct report_curve *curve = curve_of_run(c->runs[i], name);
        if (!comparison_counts(c, i))
            continue;
        double *updates = curve && by_updates ? curve_counts(c->runs[i], curve, "updates") : NULL;
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

static int add_progress(struct comparison *c, const char *name, bool by_updates, double *values) {
    double at = common_end(c, name, by_updates);
    int error;
    if (isnan(at))
        return 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct report_curve *curve = curve_of_run(c->runs[i], name);
        double *updates = curve && by_updates ? curve_counts(c->runs[i], curve, "updates") : NULL;
        values[i] =
            curve && (updates || !by_updates)
                ? curve_known_at(by_updates ? updates : curve->t_s, curve->value, curve->n, at)
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
        result = add_progress(c, qualities[q], false, values);
        if (result == 0)
            result = add_progress(c, qualities[q], true, values);
    }
    free(values);
    return result;
}
