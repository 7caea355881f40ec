/* SPDX-License-Identifier: MIT */
/* A GPU that is lost. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/gpu_rows.h"

static void a_gpu_that_falls_off_the_bus_is_said_with_its_last_error(void **state) {
    (void)state;
    judge_with_card((struct process){.run = .1, .gpu = .89},
                    (struct card){.busy = 1, .sm = .9, .lost_s = 5, .xid = 79});
    const struct candidate *c = found(CAUSE_GPU_LOST);
    assert_non_null(c);
    assert_true(fabs(c->blocked - .75) < .02);
    assert_int_equal((int)c->evidence.items[0].numbers[0], 79);
    release();
}

static void an_error_of_a_program_is_no_loss(void **state) {
    (void)state;
    judge_with_card((struct process){.run = .1, .gpu = .89},
                    (struct card){.busy = 1, .sm = .9, .xid = 31});
    assert_null(found(CAUSE_GPU_LOST));
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_that_falls_off_the_bus_is_said_with_its_last_error),
        cmocka_unit_test(an_error_of_a_program_is_no_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
