/* SPDX-License-Identifier: MIT */
/* The pauses before a process that ended is started again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/launch/backoff.h"

#define LIFE (10 * NS_PER_MS)

/* Lives for life_ns from *now on; returns the pause after it. */
static int64_t live(struct backoff *backoff, int64_t *now, int64_t life_ns) {
    backoff_started(backoff, *now);
    *now += life_ns;
    backoff_ended(backoff, *now);
    int64_t pause = backoff->due_ns - *now;
    *now += pause;
    assert_true(backoff_is_due(backoff, *now));
    assert_true(pause == 0 || !backoff_is_due(backoff, *now - 1));
    return pause;
}

static void pauses_double_up_to_a_bound(void **state) {
    struct backoff backoff = {0};
    int64_t now = NS_PER_S, before = 0;
    (void)state;
    assert_int_equal(live(&backoff, &now, LIFE), 0);
    assert_int_equal(live(&backoff, &now, LIFE), BACKOFF_MIN_NS);
    for (int i = 0; i < 1000; i++) {
        int64_t pause = live(&backoff, &now, LIFE);
        assert_true(pause == BACKOFF_MAX_NS || pause == BACKOFF_MIN_NS << (i + 1));
        assert_true(pause >= before);
        before = pause;
    }
    assert_int_equal(before, BACKOFF_MAX_NS);
}

static void a_long_life_forgives(void **state) {
    struct backoff backoff = {0};
    int64_t now = NS_PER_S;
    (void)state;
    for (int i = 0; i < 20; i++)
        live(&backoff, &now, LIFE);
    assert_int_equal(live(&backoff, &now, BACKOFF_LONG_LIFE_NS), 0);
    assert_int_equal(live(&backoff, &now, LIFE), BACKOFF_MIN_NS);
}

static void a_hurry_starts_what_is_due_and_nothing_else(void **state) {
    struct backoff backoff = {0};
    int64_t now = NS_PER_S;
    (void)state;
    backoff_hurry(&backoff, now);
    assert_false(backoff_is_due(&backoff, INT64_MAX));
    for (int i = 0; i < 10; i++)
        live(&backoff, &now, LIFE);
    backoff_started(&backoff, now);
    assert_false(backoff_is_due(&backoff, INT64_MAX));
    backoff_ended(&backoff, now);
    assert_false(backoff_is_due(&backoff, now));
    assert_int_equal(backoff_deadline(&backoff, INT64_MAX), backoff.due_ns);
    backoff_hurry(&backoff, now);
    assert_true(backoff_is_due(&backoff, now));
}

static void not_every_end_of_many_is_told(void **state) {
    struct backoff backoff = {0};
    int told = 0;
    (void)state;
    for (int i = 0; i < 100; i++) {
        backoff_started(&backoff, i);
        told += backoff_ended(&backoff, i);
    }
    assert_int_equal(told, 5 + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_double_up_to_a_bound),
        cmocka_unit_test(a_long_life_forgives),
        cmocka_unit_test(a_hurry_starts_what_is_due_and_nothing_else),
        cmocka_unit_test(not_every_end_of_many_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
