/* SPDX-License-Identifier: MIT */
/* Times of calls by the processor's counter: never off the clock, and abandoned with a counter that
 * is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/shim/tick.h"

#define NEAR_NS 1000 /* difference allowed between counter and clock */

static int64_t clock_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void open_with(const char *source) {
    char path[] = "/tmp/test-tick-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, source, strlen(source)), (ssize_t)strlen(source));
    close(fd);
    tick_open(path);
    unlink(path);
}

/* Asks until the counter has been measured; without a counter, for as long as that takes. */
static bool measure(struct tick_clock *clock) {
    int64_t until = clock_now() + INT64_C(200000000);
    while (!tick_scale && clock_now() < until)
        tick_clock_ns(clock);
    for (int i = 0; i < 1000 && !clock->limit; i++)
        tick_clock_ns(clock);
    return clock->limit;
}

static void times_lie_between_two_looks_at_the_clock(void **state) {
    struct tick_clock clock = {0};
    (void)state;
    open_with("tsc\n");
    bool used = measure(&clock);
    int64_t last = 0;
    for (int i = 0; i < 300000; i++) {
        int64_t before = clock_now(), now = tick_clock_ns(&clock), after = clock_now();
        assert_true(now >= before - NEAR_NS && now <= after + NEAR_NS);
        assert_true(now >= last);
        last = now;
    }
    assert_int_equal(used && tick_scale == 0, false); /* it worked */
}

static void a_counter_that_disagrees_is_used_no_more(void **state) {
    (void)state;
    for (int direction = -1; direction <= 1; direction += 2) {
        struct tick_clock clock = {0};
        open_with("kvm-clock\n");
        if (!measure(&clock))
            skip();
        int64_t jumped = 0, last = 0;
        for (int i = 0; tick_scale; i++) { /* repeated if this thread stood still for a second */
            assert_true(i < 50000000);
            if (clock.base_ns != jumped)
                jumped = clock.base_ns += direction * INT64_C(50000);
            assert_true(tick_clock_ns(&clock) >= last);
            last = clock.last_ns;
            assert_true(last <= clock_now() + 60000);
        }
        assert_int_equal(clock.limit, 0);
        int64_t now, after;
        do { /* it never goes back */
            now = tick_clock_ns(&clock);
            after = clock_now();
            assert_true(now >= last && now <= (after > last ? after : last));
        } while (after <= last);
    }
}

/* A core whose counter is behind: the difference is huge. */
static void a_counter_behind_its_base_asks_the_clock(void **state) {
    struct tick_clock clock = {0};
    (void)state;
    open_with("tsc\n");
    if (!measure(&clock))
        skip();
    clock.base_tick = tick_now() + (UINT64_C(1) << 40);
    int64_t before = clock_now(), now = tick_clock_ns(&clock);
    assert_true(now >= before && now <= clock_now());
}

static void other_clocks_are_asked_each_time(void **state) {
    struct tick_clock clock = {0};
    (void)state;
    for (int i = 0; i < 2; i++) {
        if (i == 0)
            open_with("hpet\n");
        else
            tick_open("/nonexistent/clocksource");
        assert_false(measure(&clock));
        int64_t before = clock_now(), now = tick_clock_ns(&clock);
        assert_true(now >= before && now <= clock_now());
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_lie_between_two_looks_at_the_clock),
        cmocka_unit_test(a_counter_that_disagrees_is_used_no_more),
        cmocka_unit_test(a_counter_behind_its_base_asks_the_clock),
        cmocka_unit_test(other_clocks_are_asked_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
