/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/facts/series/stats.h"
#include "analysis/verdict/compare.h"

#define NEAR(a, b) assert_true(fabs((double)(a) - (double)(b)) <= 1e-9 * fmax(1, fabs((double)(b))))

/* As R: quantile(c(3,1,4,1,5), c(.25,.5,.9)) */
static void quantiles_are_those_of_r(void **state) {
    const double x[] = {3, 1, 4, 1, 5};
    (void)state;
    NEAR(stats_quantile(x, 5, 0.25), 1);
    NEAR(stats_median(x, 5), 3);
    NEAR(stats_quantile(x, 5, 0.9), 4.6);
    assert_true(isnan(stats_median(x, 0)));
}

/* Arrays are in any order and have many equal values; a sorted copy is beside each. */
static void a_quantile_is_that_of_the_sorted_values(void **state) {
    uint64_t seed = 7;
    (void)state;
    for (size_t n = 1; n <= 300; n++) {
        double x[300], sorted[300];
        for (size_t i = 0; i < n; i++)
            sorted[i] = x[i] =
                n % 3 == 0 ? (double)i : (double)stats_random_below(&seed, 1 + n / 2);
        qsort(sorted, n, sizeof *sorted, stats_compare);
        for (int q = 0; q <= 20; q++) {
            double at = q / 20.0 * (double)(n - 1);
            size_t low = (size_t)at, high = low + 1 < n ? low + 1 : low;
            double right = sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
            NEAR(stats_quantile(x, n, q / 20.0), right);
        }
    }
}

static void weights_move_the_quantile(void **state) {
    struct weighted x[] = {{10, 1}, {1, 8}, {5, 1}};
    (void)state;
    NEAR(stats_weighted_quantile(x, 3, 0.5), 1);
    NEAR(stats_weighted_quantile(x, 3, 0.85), 5);
    NEAR(stats_weighted_quantile(x, 3, 1), 10);
}

/* R: pbinom(9, 10, .5, FALSE) = 2^-10; pbinom(7, 10, .5, FALSE) = 56/1024 */
static void the_binomial_tail_is_exact(void **state) {
    (void)state;
    NEAR(stats_binomial_tail(10, 10, 0.5), 1 / 1024.0);
    NEAR(stats_binomial_tail(8, 10, 0.5), 56 / 1024.0);
    NEAR(stats_binomial_tail(0, 10, 0.5), 1);
}

/* Two divisions of 252 are as extreme as two groups without overlap. */
static void five_against_five_without_overlap_is_significant(void **state) {
    const double a[] = {10, 10.1, 10.2, 10.3, 10.4}, b[] = {12, 12.1, 12.2, 12.3, 12.4};
    struct compared c = compare_groups(a, 5, b, 5);
    (void)state;
    NEAR(c.p, 2 / 252.0);
    NEAR(c.ratio, 12.2 / 10.2);
    assert_true(c.ratio_low > 1.1 && c.ratio_high < 1.3);
    assert_int_equal(compare_find(&c, c.p), COMPARE_HIGHER);
}

static void single_runs_establish_nothing(void **state) {
    const double a[] = {1}, b[] = {9};
    struct compared c = compare_groups(a, 1, b, 1);
    (void)state;
    NEAR(c.ratio, 9);
    assert_true(isnan(c.p));
    assert_int_equal(compare_find(&c, c.p), COMPARE_TOO_FEW);
}

static void a_difference_within_two_per_cent_is_none(void **state) {
    const double a[] = {100, 100.1, 100.2, 100.3, 100.4}, b[] = {101, 101.1, 101.2, 101.3, 101.4};
    struct compared c = compare_groups(a, 5, b, 5);
    (void)state;
    assert_true(c.p < 0.05);
    assert_int_equal(compare_find(&c, c.p), COMPARE_SAME);
}

static void overlapping_groups_are_not_significant(void **state) {
    const double a[] = {1, 3, 5, 7, 9}, b[] = {2, 4, 6, 8, 10};
    (void)state;
    assert_true(compare_groups(a, 5, b, 5).p > 0.5);
}

/* R: p.adjust(c(.01, .04, .03, .005), "holm") = .03 .06 .06 .02 */
static void holm_is_that_of_r(void **state) {
    const double p[] = {0.01, 0.04, NAN, 0.03, 0.005};
    double adjusted[5];
    (void)state;
    assert_int_equal(compare_holm(p, 5, adjusted), 0);
    NEAR(adjusted[0], 0.03);
    NEAR(adjusted[1], 0.06);
    assert_true(isnan(adjusted[2]));
    NEAR(adjusted[3], 0.06);
    NEAR(adjusted[4], 0.02);
    assert_int_equal(compare_holm(p, 2, adjusted), 0); /* all tests are known */
    NEAR(adjusted[0], 0.02);
    NEAR(adjusted[1], 0.04);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_those_of_r),
        cmocka_unit_test(a_quantile_is_that_of_the_sorted_values),
        cmocka_unit_test(weights_move_the_quantile),
        cmocka_unit_test(the_binomial_tail_is_exact),
        cmocka_unit_test(five_against_five_without_overlap_is_significant),
        cmocka_unit_test(single_runs_establish_nothing),
        cmocka_unit_test(a_difference_within_two_per_cent_is_none),
        cmocka_unit_test(overlapping_groups_are_not_significant),
        cmocka_unit_test(holm_is_that_of_r),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
