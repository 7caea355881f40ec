/* SPDX-License-Identifier: MIT */
/* Heat that holds a GPU down. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/gpu_rows.h"

static void heat_is_told_from_power(void **state) {
    (void)state;
    judge_with_card(
        (struct process){.run = .04, .gpu = .95},
        (struct card){.busy = 1, .sm = .96, .tensor = .93, .clock = .5, .heat_cap = .5});
    const struct candidate *c = found(CAUSE_GPU_HEAT);
    assert_non_null(c);
    assert_true(fabs(c->blocked - .95 * .5) < .01);
    assert_null(found(CAUSE_GPU_POWER));
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heat_is_told_from_power),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
