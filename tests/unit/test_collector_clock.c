/* SPDX-License-Identifier: MIT */
/*
 * Planted offsets, delays that differ between the two ways, drifting clocks: whatever is planted,
 * the true offset lies within the bound that is given.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/exchange.h"
#include "collector/clock.h"
#include "common/clock.h"

/* Deterministic: a failure can be repeated. */
static uint64_t draw(uint64_t *state, uint64_t below) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % below;
}

/* The collector's clock when the host's shows host_ns. */
struct world {
    int64_t offset_ns; /* when the host's clock is 0 */
    int64_t drift_ppm;
};

static int64_t true_offset(const struct world *world, int64_t host_ns) {
    return world->offset_ns + host_ns / 1000 * world->drift_ppm / 1000;
}

static struct exchange exchange_at(const struct world *world, int64_t sent_ns, int64_t out_ns,
                                   int64_t stay_ns, int64_t back_ns) {
    int64_t offset = true_offset(world, sent_ns);
    return (struct exchange){sent_ns, sent_ns + out_ns + offset,
                             sent_ns + out_ns + stay_ns + offset,
                             sent_ns + out_ns + stay_ns + back_ns};
}

static struct clock_estimate estimate_of(const struct exchange *x) {
    struct exchange_result result = {0};
    assert_true(exchange_solve(x, &result));
    return (struct clock_estimate){x->heard_ns, result.offset_ns, result.error_ns};
}

static void equal_delays_give_the_offset_to_the_ns(void **state) {
    (void)state;
    const struct world world = {-123456789012345, 0};
    struct exchange x = exchange_at(&world, 5 * NS_PER_S, 100000, 30000000, 100000);
    struct clock_estimate e = estimate_of(&x);
    assert_int_equal(e.offset_ns, world.offset_ns);
    assert_in_range(e.error_ns, 100000, 100000 + 3100); /* and the drift of 30 ms */
}

static void asymmetric_delays_shift_the_offset_but_never_past_the_bound(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 100000; i++) {
        const struct world world = {(int64_t)draw(&random, 1u << 30) * 1000 - (1 << 29), 0};
        struct exchange x =
            exchange_at(&world, NS_PER_S, (int64_t)draw(&random, 1u << 26),
                        (int64_t)draw(&random, 1u << 26), (int64_t)draw(&random, 1u << 10));
        struct clock_estimate e = estimate_of(&x);
        assert_true(llabs(e.offset_ns - world.offset_ns) <= e.error_ns);
    }
}

static void times_that_cannot_be_true_give_no_offset(void **state) {
    (void)state;
    const struct exchange impossible[] = {
        {100, 1000, 1500, 200},          /* it stayed there longer than we waited */
        {100, 1000, 900, 300},           /* answered before it was received */
        {300, 1000, 1000, 200},          /* heard before it was sent */
        {1, INT64_MAX, INT64_MAX, -100}, /* overflows */
        {-100, INT64_MAX, INT64_MAX, INT64_MAX},
    };
    struct exchange_result result;
    for (size_t i = 0; i < sizeof impossible / sizeof impossible[0]; i++)
        assert_false(exchange_solve(&impossible[i], &result));
}

/* One push a second for ten minutes; delays vary a thousandfold; the clocks drift apart. */
static void the_bound_holds_over_many_exchanges_of_drifting_clocks(void **state) {
    (void)state;
    uint64_t random = 7;
    for (int64_t ppm = -CLOCK_DRIFT_PPM; ppm <= CLOCK_DRIFT_PPM; ppm += CLOCK_DRIFT_PPM / 4) {
        const struct world world = {INT64_C(987654321987), ppm};
        struct clock_filter filter = {0};
        int64_t offset_ns, error_ns;
        for (int64_t s = 1; s < 600; s++) {
            struct exchange x =
                exchange_at(&world, s * NS_PER_S, 1 + (int64_t)draw(&random, 1u << 24),
                            (int64_t)draw(&random, 1u << 24), 1 + (int64_t)draw(&random, 1u << 14));
            struct clock_estimate e = estimate_of(&x);
            assert_int_equal(clock_filter_add(&filter, &e), 0);
            assert_true(clock_filter_read(&filter, e.mono_ns, &offset_ns, &error_ns));
            assert_true(llabs(offset_ns - true_offset(&world, e.mono_ns)) <= error_ns);
            int64_t later_ns = e.mono_ns + 30 * NS_PER_S;
            clock_filter_read(&filter, later_ns, &offset_ns, &error_ns);
            assert_true(llabs(offset_ns - true_offset(&world, later_ns)) <= error_ns);
        }
    }
}

static void many_exchanges_know_more_than_the_best_of_them(void **state) {
    (void)state;
    const struct world world = {42 * NS_PER_S, 0};
    struct clock_filter filter = {0};
    /* One is slow on the way out, the other on the way back: each alone is off by half a ms. */
    struct exchange out = exchange_at(&world, NS_PER_S, NS_PER_MS, 0, 10000);
    struct exchange back = exchange_at(&world, NS_PER_S + NS_PER_MS, 10000, 0, NS_PER_MS);
    struct clock_estimate a = estimate_of(&out), b = estimate_of(&back);
    clock_filter_add(&filter, &a);
    clock_filter_add(&filter, &b);
    int64_t offset_ns, error_ns;
    clock_filter_read(&filter, b.mono_ns, &offset_ns, &error_ns);
    assert_true(error_ns < a.error_ns / 20 && error_ns < b.error_ns / 20);
    assert_true(llabs(offset_ns - world.offset_ns) <= error_ns);
}

static void a_slow_exchange_does_not_widen_what_is_known(void **state) {
    (void)state;
    const struct world world = {-5, 0};
    struct clock_filter filter = {0};
    struct exchange quick = exchange_at(&world, NS_PER_S, 20000, 0, 20000);
    struct exchange slow = exchange_at(&world, 2 * NS_PER_S, 3 * NS_PER_S, 0, 20000);
    struct clock_estimate a = estimate_of(&quick), b = estimate_of(&slow);
    clock_filter_add(&filter, &a);
    clock_filter_add(&filter, &b);
    int64_t offset_ns, error_ns;
    clock_filter_read(&filter, b.mono_ns, &offset_ns, &error_ns);
    assert_true(error_ns < NS_PER_MS);
}

static void a_clock_that_jumped_is_told_and_learnt_anew(void **state) {
    (void)state;
    struct clock_filter filter = {0};
    const struct clock_estimate before = {NS_PER_S, 1000, 500};
    const struct clock_estimate after = {2 * NS_PER_S, 1000 + NS_PER_S, 500};
    assert_int_equal(clock_filter_add(&filter, &before), 0);
    assert_int_equal(clock_filter_add(&filter, &after), CLOCK_STEPPED);
    int64_t offset_ns, error_ns;
    clock_filter_read(&filter, after.mono_ns, &offset_ns, &error_ns);
    assert_int_equal(offset_ns, after.offset_ns);
}

static void numbers_that_are_no_exchange_change_nothing(void **state) {
    (void)state;
    struct clock_filter filter = {0};
    const struct clock_estimate bad[] = {{-1, 0, 0}, {0, INT64_MAX, 0}, {0, INT64_MIN, 0},
                                         {0, 0, -1}, {0, 0, INT64_MAX}, {INT64_MAX, 0, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(clock_filter_add(&filter, &bad[i]), -EINVAL);
    int64_t offset_ns, error_ns;
    assert_false(clock_filter_read(&filter, 0, &offset_ns, &error_ns));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_delays_give_the_offset_to_the_ns),
        cmocka_unit_test(asymmetric_delays_shift_the_offset_but_never_past_the_bound),
        cmocka_unit_test(times_that_cannot_be_true_give_no_offset),
        cmocka_unit_test(the_bound_holds_over_many_exchanges_of_drifting_clocks),
        cmocka_unit_test(many_exchanges_know_more_than_the_best_of_them),
        cmocka_unit_test(a_slow_exchange_does_not_widen_what_is_known),
        cmocka_unit_test(a_clock_that_jumped_is_told_and_learnt_anew),
        cmocka_unit_test(numbers_that_are_no_exchange_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
