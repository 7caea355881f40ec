/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/facts/series/alert.h"
#include "analysis/facts/series/rate.h"

static const struct alert_rule rule = {70, 90, 10, 0, 1};

/* One cell a second with these values. */
static size_t find(const double *values, size_t n, struct alert **ret_alerts) {
    struct rate rate;
    size_t found;
    assert_int_equal(rate_init(&rate, n, 1), 0);
    for (size_t i = 0; i < n; i++) {
        rate.t_ns[i] = (int64_t)(i + 1) * S;
        rate.dt_ns[i] = S;
        rate.amount[i] = values[i];
        rate.base[i] = isnan(values[i]) ? 0 : 1;
    }
    assert_int_equal(alert_find(&rate, &rule, 0, (int64_t)n * S, ret_alerts, &found), 0);
    rate_release(&rate);
    return found;
}

#define FIND(alerts, ...)                                                                          \
    find((const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double),    \
         alerts)

static void two_seconds_are_no_alert(void **state) {
    struct alert *alerts;
    (void)state;
    assert_int_equal(FIND(&alerts, 10, 99, 99, 10, 10, 99, 10), 0);
    free(alerts);
}

static void three_seconds_are_one_with_peak_and_duration(void **state) {
    struct alert *alerts;
    (void)state;
    assert_int_equal(FIND(&alerts, 10, 75, 88, 71, 10), 1);
    assert_int_equal(alerts[0].level, ALERT_WARNING);
    assert_true(alerts[0].start_s == 1 && alerts[0].duration_s == 3 && alerts[0].peak == 88);
    free(alerts);
}

static void critical_needs_three_critical_seconds(void **state) {
    struct alert *alerts;
    (void)state;
    assert_int_equal(FIND(&alerts, 75, 95, 95, 75, 75), 1);
    assert_int_equal(alerts[0].level, ALERT_WARNING);
    free(alerts);
    assert_int_equal(FIND(&alerts, 75, 95, 85, 95, 95, 75), 1);
    assert_int_equal(alerts[0].level, ALERT_CRITICAL);
    free(alerts);
}

static void flickering_is_one_alert(void **state) {
    struct alert *alerts;
    (void)state;
    assert_int_equal(FIND(&alerts, 72, 68, 72, 65, 72, 61, 40, 72), 1);
    assert_true(alerts[0].duration_s == 5); /* the time below it at the end does not count */
    free(alerts);
}

static void a_gap_ends_an_alert(void **state) {
    struct alert *alerts;
    (void)state;
    assert_int_equal(FIND(&alerts, 95, 95, 95, NAN, 95, 95, 95, 95), 2);
    free(alerts);
}

/* Ten samples a second: a burst of two tenths within a quiet second is no busy second. */
static void bursts_within_a_second_do_not_count(void **state) {
    struct rate rate;
    struct alert *alerts;
    size_t n;
    (void)state;
    assert_int_equal(rate_init(&rate, 50, 1), 0);
    for (int i = 0; i < 50; i++) {
        rate.t_ns[i] = (i + 1) * 100 * MS;
        rate.dt_ns[i] = 100 * MS;
        rate.amount[i] = i % 10 < 2 ? 100 : 10;
        rate.base[i] = 1;
    }
    assert_int_equal(alert_find(&rate, &rule, 0, 5 * S, &alerts, &n), 0);
    assert_int_equal(n, 0);
    free(alerts);
    rate_release(&rate);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_seconds_are_no_alert),
        cmocka_unit_test(three_seconds_are_one_with_peak_and_duration),
        cmocka_unit_test(critical_needs_three_critical_seconds),
        cmocka_unit_test(flickering_is_one_alert),
        cmocka_unit_test(a_gap_ends_an_alert),
        cmocka_unit_test(bursts_within_a_second_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
