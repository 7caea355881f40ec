/* SPDX-License-Identifier: MIT */
/* A power limit that holds a GPU down. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/gpu_rows.h"

static void a_cap_is_worth_the_clock_that_it_takes(void **state) {
    (void)state;
    judge_with_card(
        (struct process){.run = .04, .gpu = .95},
        (struct card){.busy = 1, .sm = .96, .tensor = .93, .clock = .75, .power_cap = 1});
    const struct candidate *c = found(CAUSE_GPU_POWER);
    assert_non_null(c);
    assert_true(fabs(c->blocked - .95 * .25) < .01);
    assert_false(c->can_remove);
    assert_int_equal(judged.candidates.items[0].kind, CAUSE_GPU_COMPUTE);
    release();
}

static void a_low_clock_without_a_cap_is_none(void **state) {
    (void)state;
    judge_with_card((struct process){.run = .04, .gpu = .95},
                    (struct card){.busy = 1, .sm = .96, .tensor = .93, .clock = .75});
    assert_null(found(CAUSE_GPU_POWER));
    assert_null(found(CAUSE_GPU_HEAT));
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cap_is_worth_the_clock_that_it_takes),
        cmocka_unit_test(a_low_clock_without_a_cap_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
