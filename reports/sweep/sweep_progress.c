/* SPDX-License-Identifier: MIT */
/*
 * How well the programs of a sweep learned: accuracy during the run (F1), and compared at equal
 * time, after equal updates and after equal examples, since the last values of a fast run and a
 * long one do not show which learns better. "Equal" is where the first of the cells ended.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/model/summary.h"
#include "reports/plot/curve.h"
#include "reports/sweep/sweep_private.h"

#define LABEL_SIZE 600
#define POINTS_SHOWN 8
#define BESIDE_MAX 3 /* columns as wide as a test that fit into 100 */
#define PARTS 3

static const struct report_curve *accuracy_of(const struct report *report) {
    return report ? curve_of_run(report, "accuracy") : NULL;
}

/* ---- on its way ---- */

/* A test, its update or iteration and time: "62.1 % at 40 (3.2 s)". */
static int put_point(struct sweep_table *table, size_t row, size_t column,
                     const struct report_curve *curve, const double *counts, size_t at) {
    double count = counts ? counts[at] : curve->iteration[at];
    return isnan(count) ? sweep_table_set(table, row, column, "%.2f %% (%.3g s)",
                                          100 * curve->value[at], curve->t_s[at])
                        : sweep_table_set(table, row, column, "%.2f %% at %.0f (%.3g s)",
                                          100 * curve->value[at], count, curve->t_s[at]);
}

/* Which of n tests goes into that row, the last into the last; SIZE_MAX if none is left. */
static size_t test_of_row(size_t place, size_t n) {
    size_t at = n <= POINTS_SHOWN ? place : place * (n - 1) / (POINTS_SHOWN - 1);
    return at < n ? at : SIZE_MAX;
}

/* The last test of that part of n; SIZE_MAX if the next part has no other test. */
static size_t test_of_part(size_t place, size_t n) {
    size_t at = ((place + 1) * n + PARTS - 1) / PARTS - 1;
    return place + 1 < PARTS && ((place + 2) * n + PARTS - 1) / PARTS - 1 == at ? SIZE_MAX : at;
}

/* Fills in the tests of a cell, in its own column or row. */
static int fill_curve(struct sweep_table *table, size_t place, bool across,
                      const struct sweep *sweep, const struct sweep_cell *cell) {
    const struct report_curve *curve = accuracy_of(cell->typical);
    double *updates = curve_counts(cell->typical, curve, "updates");
    char label[LABEL_SIZE];
    sweep_values(sweep, cell, label, sizeof label);
    int result = sweep_table_set(table, across ? place : 0, across ? 0 : place, "%s", label);
    for (size_t k = 1; k < (across ? table->columns : table->rows) && result == 0; k++) {
        size_t at = across ? test_of_part(k - 1, curve->n) : test_of_row(k - 1, curve->n);
        if (at != SIZE_MAX)
            result = put_point(table, across ? place : k, across ? k : place, curve, updates, at);
    }
    free(updates);
    return result;
}

static int put_curve_titles(struct sweep_table *table, bool across) {
    static const char *const parts[PARTS] = {"after a third of the tests", "after two thirds",
                                             "after all"};
    int result = sweep_table_set(table, 0, 0, across ? " " : "test");
    for (size_t c = 1; across && c < table->columns && result == 0; c++)
        result = sweep_table_set(table, 0, c, "%s", parts[c - 1]);
    for (size_t r = 1; !across && r < table->rows && result == 0; r++)
        result = sweep_table_set(table, r, 0, "%zu", r);
    return result;
}

static bool counts_updates(const struct sweep *sweep) {
    for (size_t i = 0; i < sweep->n_cells; i++)
        if (sweep->cells[i].typical && curve_of_run(sweep->cells[i].typical, "updates"))
            return true;
    return false;
}

/* A few cells stand beside each other, with a row for each test; many cells have a row each, with
 * fewer tests: a dozen columns fit on no screen.
 */
int sweep_tables_add_curves(struct sweep_tables *tables, const struct sweep *sweep) {
    size_t cells = 0, tests = 0, place = 1;
    for (size_t i = 0; i < sweep->n_cells; i++) {
        const struct report_curve *curve = accuracy_of(sweep->cells[i].typical);
        cells += curve != NULL;
        tests = curve && curve->n > tests ? curve->n : tests;
    }
    if (!tests)
        return 0;
    bool across = cells > BESIDE_MAX;
    tests = across ? PARTS : tests > POINTS_SHOWN ? POINTS_SHOWN : tests;
    struct sweep_table *table = sweep_table_new(
        tables, "curves", "", (across ? cells : tests) + 1, (across ? tests : cells) + 1,
        "Accuracy on its way: %s, after how many seconds",
        counts_updates(sweep) ? "after how many updates of the model" : "at which iteration");
    int result = table ? put_curve_titles(table, across) : -ENOMEM;
    for (size_t i = 0; i < sweep->n_cells && result == 0; i++)
        if (accuracy_of(sweep->cells[i].typical))
            result = fill_curve(table, place++, across, sweep, &sweep->cells[i]);
    return result;
}

/* ---- at equal time, updates, examples ---- */

enum equal { EQUAL_TIME, EQUAL_UPDATES, EQUAL_EXAMPLES, EQUALS };

/* The positions of a curve's tests on the compared axis; the caller frees it. NULL if not known. */
static double *places_of(const struct report *report, const struct report_curve *curve,
                         enum equal equal) {
    if (equal != EQUAL_TIME)
        return curve_counts(report, curve, equal == EQUAL_UPDATES ? "updates" : "examples trained");
    double *at = calloc(curve->n + 1, sizeof *at), begin = sweep_training_begin(report);
    for (size_t i = 0; at && i < curve->n; i++)
        at[i] = curve->t_s[i] - begin;
    return at;
}

/* Where the first cell ended, of those that tell; NAN if fewer than two do. */
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

/* The accuracy at a position; if the tests around it are far apart, both of their values. */
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
