/* SPDX-License-Identifier: MIT */
/* The alert log of a network: planted traffic against what is known of its link. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reports/facts/alerts.h"
#include "tests/unit/plant.h"

#define QUEUE_LEVELS (1u << QDISC_BACKLOG | 1u << QDISC_RATE)

static struct {
    double send_mb_s, receive_mb_s; /* from 10 to 20 s */
    double turn_s; /* sends and receives in turn, for turn_s each; 0: both at once */
    double queue_mb_s, speed_mb_s; /* set or nominal rate; NAN: none */
} planted;

static double sending(double t_s) {
    bool ours = planted.turn_s == 0 || fmod(t_s, 2 * planted.turn_s) < planted.turn_s;
    return t_s > 10 && t_s < 20 && ours ? planted.send_mb_s * 1e6 : 0;
}

static double receiving(double t_s) {
    bool ours = planted.turn_s == 0 || fmod(t_s, 2 * planted.turn_s) >= planted.turn_s;
    return t_s > 10 && t_s < 20 && ours ? planted.receive_mb_s * 1e6 : 0;
}

static double traffic(size_t column, double t_s) {
    if (column == NET_SPEED)
        return planted.speed_mb_s * 1e6;
    return column == NET_SEND_BYTES ? sending(t_s) : receiving(t_s);
}

static double queue(size_t column, double t_s) {
    if (column == QDISC_RATE)
        return planted.queue_mb_s * 1e6;
    return column == QDISC_SEND_BYTES ? sending(t_s) : 0;
}

/* The alerts of 30 s of the planted traffic, with that measured ceiling of both directions (NAN:
 * none).
 */
static void log_of(struct alerts *log, double measured_mb_s) {
    struct recording r;
    struct run_model model;
    plant_init(&r, 1, 30);
    plant(&r, RECORDING_NET, 0, "eth0", 0.1, 1u << NET_SPEED, traffic);
    plant(&r, RECORDING_QDISC, 0, "eth0 tbf root", 0.1, QUEUE_LEVELS, queue);
    if (!isnan(measured_mb_s)) {
        assert_int_equal(recording_add_ceiling(&r, 0, METRIC_NET_SEND, measured_mb_s), 0);
        assert_int_equal(recording_add_ceiling(&r, 0, METRIC_NET_RECV, measured_mb_s), 0);
    }
    assert_int_equal(model_build(&r, &model), 0);
    assert_int_equal(alerts_find(&model, log), 0);
    model_release(&model);
    recording_release(&r);
}

static void expect_one(double measured_mb_s, const char *resource, double peak) {
    struct alerts log;
    log_of(&log, measured_mb_s);
    assert_int_equal(log.n, 1);
    assert_string_equal(log.items[0].resource, resource);
    assert_int_equal(log.items[0].level, ALERT_CRITICAL);
    assert_true(log.items[0].start_s == 10 && log.items[0].duration_s == 10);
    assert_true(fabs(log.items[0].peak / peak - 1) < 0.01);
    free(log.items);
}

static void expect_none(double measured_mb_s) {
    struct alerts log;
    log_of(&log, measured_mb_s);
    assert_int_equal(log.n, 0);
    free(log.items);
}

#define PLANT(...) memcpy(&planted, &(__typeof__(planted)){__VA_ARGS__}, sizeof planted)

static void without_a_known_rate_no_traffic_is_high(void **state) {
    (void)state;
    PLANT(24, 24, 0, NAN, NAN);
    expect_none(NAN);
}

static void a_queue_says_what_may_be_sent(void **state) {
    (void)state;
    PLANT(24, 0, 0, 25, NAN);
    expect_one(NAN, "NET_SEND", 24);
    PLANT(16, 0, 0, 25, NAN);
    expect_none(NAN);
}

static void an_interface_says_what_it_carries_each_way(void **state) {
    (void)state;
    PLANT(0, 120, 0, NAN, 125);
    expect_one(NAN, "NET_RECV", 120);
    PLANT(120, 0, 0, NAN, 125);
    expect_one(NAN, "NET_SEND", 120);
}

static void a_queue_is_closer_than_the_interface(void **state) {
    (void)state;
    PLANT(24, 0, 0, 25, 1250);
    expect_one(NAN, "NET_SEND", 24);
}

/* A veth reports 10 Gbit/s whatever it carries. */
static void a_speed_that_is_exceeded_is_none(void **state) {
    (void)state;
    PLANT(140, 0, 0, NAN, 125);
    expect_none(NAN);
}

static void a_link_that_is_full_in_turn_is_full(void **state) {
    (void)state;
    PLANT(24, 24, 0.5, NAN, NAN);
    expect_one(25, "NET", 96);
    PLANT(24, 24, 0.5, 25, 1250); /* it is assumed to receive at the rate at which it sends */
    expect_one(NAN, "NET", 96);
}

static void half_of_each_direction_at_a_time_is_not_full(void **state) {
    (void)state;
    PLANT(12, 12, 0, NAN, NAN);
    expect_none(25);
}

static void what_one_direction_tells_is_told_once(void **state) {
    (void)state;
    PLANT(24, 12, 0, NAN, NAN);
    expect_one(25, "NET_SEND", 24);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_known_rate_no_traffic_is_high),
        cmocka_unit_test(a_queue_says_what_may_be_sent),
        cmocka_unit_test(an_interface_says_what_it_carries_each_way),
        cmocka_unit_test(a_queue_is_closer_than_the_interface),
        cmocka_unit_test(a_speed_that_is_exceeded_is_none),
        cmocka_unit_test(a_link_that_is_full_in_turn_is_full),
        cmocka_unit_test(half_of_each_direction_at_a_time_is_not_full),
        cmocka_unit_test(what_one_direction_tells_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
