/* SPDX-License-Identifier: MIT */
/* Groups of runs: p values by hand, intervals against drawn truths, and no unjustified claims. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analysis/facts/series/stats.h"
#include "analysis/verdict/compare.h"

#define NEAR(a, b, within)                                                                         \
    do {                                                                                           \
        double is_ = (a), should_ = (b);                                                           \
        if (!(fabs(is_ - should_) <= (within)))                                                    \
            fail_msg("%s is %.12g, not %.12g", #a, is_, should_);                                  \
    } while (0)

/* Five ones and five zeros, one of the ones in a. As extreme: 0, 1, 4 or 5 ones in a: 2 (C(5,0)
 * C(5,5) + C(5,1) C(5,4)) of C(10,5) divisions.
 */
static void the_permutation_test_is_that_by_hand(void **state) {
    const double a[] = {0, 0, 0, 0, 1}, b[] = {1, 1, 1, 1, 0};
    struct compared c = compare_groups(a, 5, b, 5);
    (void)state;
    NEAR(c.p, 52.0 / 252, 1e-12);
    NEAR(c.p_least, 2.0 / 252, 1e-12);
    assert_true(c.exact);
    assert_true(isnan(c.ratio)); /* zeros have none */
}

/* 1 to 5 against 6 to 11; as extreme is only 7 to 11 against 1 to 6. */
static void groups_of_unequal_size_are_tested_exactly_too(void **state) {
    const double a[] = {1, 2, 3, 4, 5}, b[] = {6, 7, 8, 9, 10, 11};
    struct compared c = compare_groups(a, 5, b, 6);
    (void)state;
    NEAR(c.p, 2.0 / 462, 1e-12);
    NEAR(c.p_least, 1.0 / 462, 1e-12);
}

/* 11 ones and 11 zeros, 3 of the ones in a: 2 (1 + 121 + 3025 + 27225) of C(22,11) divisions. */
static void too_many_divisions_are_sampled_and_said_so(void **state) {
    double a[11] = {1, 1, 1}, b[11] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct compared c = compare_groups(a, 11, b, 11);
    (void)state;
    assert_false(c.exact);
    NEAR(c.p, 60744.0 / 705432, 0.005);
    struct compared again = compare_groups(a, 11, b, 11);
    NEAR(again.p, c.p, 0); /* seeded */
    NEAR(again.difference_low, c.difference_low, 0);
}

static void a_group_against_itself_is_no_difference(void **state) {
    const double a[] = {10, 10.05, 10.1, 9.95, 9.9, 10};
    struct compared c = compare_groups(a, 6, a, 6);
    (void)state;
    NEAR(c.p, 1, 0);
    NEAR(c.ratio, 1, 0);
    assert_int_equal(compare_find(&c, c.p), COMPARE_SAME);
    const double wide[] = {5, 10, 20, 40, 80};
    c = compare_groups(wide, 5, wide, 5);
    NEAR(c.p, 1, 0);
    assert_int_equal(compare_find(&c, c.p), COMPARE_UNCLEAR);
}

static void four_runs_of_a_group_establish_nothing(void **state) {
    const double a[] = {1, 1.01, 1.02, 1.03, 1.04}, b[] = {9, 9.01, 9.02, 9.03};
    struct compared c = compare_groups(a, 5, b, 4);
    (void)state;
    assert_int_equal(compare_find(&c, c.p), COMPARE_TOO_FEW);
    NEAR(c.ratio, 9.015 / 1.02, 1e-12); /* there is a real difference */
}

static void what_was_nothing_before_can_be_higher(void **state) {
    const double a[] = {0, 0, 0, 0, 0}, b[] = {5, 5.1, 5.2, 5.3, 5.4};
    struct compared c = compare_groups(a, 5, b, 5);
    (void)state;
    assert_int_equal(compare_find(&c, c.p), COMPARE_HIGHER);
    c = compare_groups(b, 5, a, 5);
    assert_int_equal(compare_find(&c, c.p), COMPARE_LOWER);
    c = compare_groups(a, 5, a, 5);
    assert_int_equal(compare_find(&c, c.p), COMPARE_SAME);
}

/* With five of each no p is below 2/252, so more than six tests at once cannot pass, and the needed
 * number of runs is reported. C(12,6) = 924, C(14,7) = 3432.
 */
static void the_number_of_tests_asks_for_more_runs(void **state) {
    (void)state;
    assert_int_equal(compare_runs_needed(1), 5);
    assert_int_equal(compare_runs_needed(6), 5);
    assert_int_equal(compare_runs_needed(7), 6);
    assert_int_equal(compare_runs_needed(23), 6);
    assert_int_equal(compare_runs_needed(24), 7);
}

/* ---- truths that were drawn ---- */

static double uniform(uint64_t *random) {
    return ((double)(stats_random(random) >> 11) + 0.5) / 9007199254740992.0;
}

/* Run times: log-normal around `median`. */
static void draw(uint64_t *random, double median, double spread, double *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double normal = sqrt(-2 * log(uniform(random))) * cos(2 * M_PI * uniform(random));
        values[i] = median * exp(spread * normal);
    }
}

#define ROUNDS 200

static void check_coverage(size_t n, double ratio) {
    uint64_t random = 20260101 + n;
    size_t inside = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double a[16], b[16];
        draw(&random, 10, 0.05, a, n);
        draw(&random, 10 * ratio, 0.05, b, n);
        struct compared c = compare_groups(a, n, b, n);
        inside += c.ratio_low <= ratio && ratio <= c.ratio_high;
    }
    if (inside < ROUNDS * 92 / 100 || inside == ROUNDS)
        fail_msg("%zu runs each: %zu of %d intervals hold the truth", n, inside, ROUNDS);
}

static void intervals_hold_the_truth_about_as_often_as_they_say(void **state) {
    (void)state;
    check_coverage(5, 1.1);
    check_coverage(8, 0.8);
    check_coverage(10, 1);
}

static void repeats_of_the_same_are_seldom_called_different(void **state) {
    uint64_t random = 7;
    size_t claims = 0, found = 0;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        double a[5], b[5];
        draw(&random, 10, 0.05, a, 5);
        draw(&random, 10, 0.05, b, 5);
        struct compared c = compare_groups(a, 5, b, 5);
        enum compare_finding same = compare_find(&c, c.p);
        claims += same == COMPARE_LOWER || same == COMPARE_HIGHER;
        draw(&random, 12, 0.05, b, 5);
        c = compare_groups(a, 5, b, 5);
        found += compare_find(&c, c.p) == COMPARE_HIGHER;
    }
    assert_true(claims <= ROUNDS / 20);
    assert_true(found >= ROUNDS * 9 / 10); /* 20 % slower, 5 % spread */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_permutation_test_is_that_by_hand),
        cmocka_unit_test(groups_of_unequal_size_are_tested_exactly_too),
        cmocka_unit_test(too_many_divisions_are_sampled_and_said_so),
        cmocka_unit_test(a_group_against_itself_is_no_difference),
        cmocka_unit_test(four_runs_of_a_group_establish_nothing),
        cmocka_unit_test(what_was_nothing_before_can_be_higher),
        cmocka_unit_test(the_number_of_tests_asks_for_more_runs),
        cmocka_unit_test(intervals_hold_the_truth_about_as_often_as_they_say),
        cmocka_unit_test(repeats_of_the_same_are_seldom_called_different),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
