/* SPDX-License-Identifier: MIT */
/*
 * How well the programs of a sweep learned: accuracy on its way (F1), and beside each other at
 * equal time, after equal updates and after equal examples, for the last values of a fast run and a
 * long one say nothing about which learns better. "Equal" is where the first of the cells ended.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/curve.h"
#include "reports/summary.h"
#include "reports/sweep_private.h"

#define LABEL_SIZE 600
#define POINTS_SHOWN 8

static const struct report_curve *accuracy_of(const struct report *report) {
    return report ? curve_of_run(report, "accuracy") : NULL;
}

/* ---- on its way ---- */

/* "62.1 % at 40 (3.2 s)": a test, its update or iteration and time; the last row holds the last
 * test. */
static int put_point(struct sweep_table *table, size_t row, size_t column,
                     const struct report_curve *curve, const double *counts) {
    size_t at = curve->n <= POINTS_SHOWN ? row : row * (curve->n - 1) / (POINTS_SHOWN - 1);
    if (at >= curve->n)
        return 0;
    double count = counts ? counts[at] : curve->iteration[at];
    return isnan(count) ? sweep_table_set(table, row + 1, column, "%.2f %% (%.3g s)",
                                          100 * curve->value[at], curve->t_s[at])
                        : sweep_table_set(table, row + 1, column, "%.2f %% at %.0f (%.3g s)",
                                          100 * curve->value[at], count, curve->t_s[at]);
}

static int fill_curve(struct sweep_table *table, size_t column, const struct sweep *sweep,
                      const struct sweep_cell *cell) {
    const struct report_curve *curve = accuracy_of(cell->typical);
    double *updates = curve_counts(cell->typical, curve, "updates");
    char label[LABEL_SIZE];
    sweep_values(sweep, cell, label, sizeof label);
    int result = sweep_table_set(table, 0, column, "%s", label);
    for (size_t r = 0; r + 1 < table->rows && result == 0; r++)
        result = put_point(table, r, column, curve, updates);
    free(updates);
    return result;
}

static bool counts_updates(const struct sweep *sweep) {
    for (size_t i = 0; i < sweep->n_cells; i++)
        if (sweep->cells[i].typical && curve_of_run(sweep->cells[i].typical, "updates"))
            return true;
    return false;
}

int sweep_tables_add_curves(struct sweep_tables *tables, const struct sweep *sweep) {
    size_t columns = 1, rows = 0, column = 1;
    for (size_t i = 0; i < sweep->n_cells; i++) {
        const struct report_curve *curve = accuracy_of(sweep->cells[i].typical);
        columns += curve != NULL;
        rows = curve && curve->n > rows ? curve->n : rows;
    }
    if (!rows)
        return 0;
    rows = rows > POINTS_SHOWN ? POINTS_SHOWN : rows;
    struct sweep_table *table = sweep_table_new(
        tables, "curves", "", rows + 1, columns, "Accuracy on its way: %s, after how many seconds",
        counts_updates(sweep) ? "after how many updates of the model" : "at which iteration");
    int result = table ? sweep_table_set(table, 0, 0, "test") : -ENOMEM;
    for (size_t r = 0; r < rows && result == 0; r++)
        result = sweep_table_set(table, r + 1, 0, "%zu", r + 1);
    for (size_t i = 0; i < sweep->n_cells && result == 0; i++)
        if (accuracy_of(sweep->cells[i].typical))
            result = fill_curve(table, column++, sweep, &sweep->cells[i]);
    return result;
}

/* ---- at equal time, updates, examples ---- */

enum equal { EQUAL_TIME, EQUAL_UPDATES, EQUAL_EXAMPLES, EQUALS };

/* What an accuracy is held against; the caller frees it. NULL: not known. */
static double *places_of(const struct report *report, const struct report_curve *curve,
                         enum equal equal) {
    if (equal != EQUAL_TIME)
        return curve_counts(report, curve, equal == EQUAL_UPDATES ? "updates" : "examples trained");
    double *at = calloc(curve->n + 1, sizeof *at), begin = sweep_training_begin(report);
    for (size_t i = 0; at && i < curve->n; i++)
        at[i] = curve->t_s[i] - begin;
    return at;
}

/* Where the first of the cells ended that tell; NAN: fewer than two do. */
static double common_end(const struct sweep *sweep, enum equal equal) {
    double end = INFINITY;
    size_t n = 0;
    for (size_t i = 0; i < sweep->n_cells; i++) {
        const struct report_curve *curve = accuracy_of(sweep->cells[i].typical);
        double *at = curve ? places_of(sweep->cells[i].typical, curve, equal) : NULL;
        if (at && at[curve->n - 1] > 0) {
            end = fmin(end, at[curve->n - 1]);
            n++;
        }
        free(at);
    }
    return n > 1 ? end : NAN;
}

/* What is known of the accuracy at a place: between two tests that are far apart, only those two.
 */
static int put_accuracy(struct sweep_table *table, size_t row, size_t column,
                        const struct report *report, enum equal equal, double place) {
    const struct report_curve *curve = accuracy_of(report);
    double *at = curve && !isnan(place) ? places_of(report, curve, equal) : NULL;
    size_t i = 0;
    while (at && i < curve->n && !(at[i] >= place))
        i++;
    bool known = at && i < curve->n && (i || at[0] == place);
    double after = known ? curve->value[i] : NAN, before = known && i ? curve->value[i - 1] : NAN;
    int result = known && at[i] > place && !(fabs(after - before) <= CURVE_CLOSE)
                     ? sweep_table_set(table, row, column, "%.2f to %.2f",
                                       100 * fmin(before, after), 100 * fmax(before, after))
                     : sweep_table_number(
                           table, row, column,
                           known ? 100 * curve_read_off(at, curve->value, curve->n, place) : NAN);
    free(at);
    return result;
}

static int put_pace_titles(struct sweep_table *table, const double places[EQUALS]) {
    static const char *const rates[] = {" ", "updates a second (1/s)", "examples a second (1/s)",
                                        "staleness (updates)"};
    static const char *const words[EQUALS] = {"accuracy after %.3g s (%%)",
                                              "accuracy after %.0f updates (%%)",
                                              "accuracy after %.0f examples (%%)"};
    int result = 0;
    for (size_t c = 0; c < ARRAY_SIZE(rates) && result == 0; c++)
        result = sweep_table_set(table, 0, c, "%s", rates[c]);
    for (size_t e = 0; e < EQUALS && result == 0; e++) {
        char title[80] = "-";
        if (!isnan(places[e]))
            snprintf(title, sizeof title, words[e], places[e]);
        result = sweep_table_set(table, 0, ARRAY_SIZE(rates) + e, "%s", title);
    }
    return result;
}

static int fill_pace(struct sweep_table *table, size_t row, const struct sweep *sweep,
                     const struct sweep_cell *cell, const double places[EQUALS]) {
    struct report_summary s = report_summarize(cell->typical);
    const double rates[] = {s.updates_per_s, s.examples_per_s, s.staleness};
    char label[LABEL_SIZE];
    sweep_values(sweep, cell, label, sizeof label);
    int result = sweep_table_set(table, row, 0, "%s", label);
    for (size_t c = 0; c < ARRAY_SIZE(rates) && result == 0; c++)
        result = sweep_table_number(table, row, c + 1, rates[c]);
    for (size_t e = 0; e < EQUALS && result == 0; e++)
        result = put_accuracy(table, row, ARRAY_SIZE(rates) + 1 + e, cell->typical, (enum equal)e,
                              places[e]);
    return result;
}

int sweep_tables_add_pace(struct sweep_tables *tables, const struct sweep *sweep) {
    double places[EQUALS];
    size_t row = 1;
    bool any = false;
    for (size_t e = 0; e < EQUALS; e++) {
        places[e] = common_end(sweep, (enum equal)e);
        any = any || !isnan(places[e]);
    }
    if (!any)
        return 0;
    struct sweep_table *table = sweep_table_new(
        tables, "pace", "", sweep_n_typical(sweep) + 1, 4 + EQUALS,
        "Pace, and accuracy at equal time of training, after equal updates and equal examples");
    int result = table ? put_pace_titles(table, places) : -ENOMEM;
    for (size_t i = 0; i < sweep->n_cells && result == 0; i++)
        if (sweep->cells[i].typical)
            result = fill_pace(table, row++, sweep, &sweep->cells[i], places);
    return result;
}
