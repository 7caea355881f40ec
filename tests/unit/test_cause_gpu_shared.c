/* SPDX-License-Identifier: MIT */
/* Another program on the GPU. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/gpu_rows.h"

static double other_cores;

static double other_row(size_t column, double t_s) {
    (void)t_s;
    return column == PROCESS_PID ? 9 : column == PROCESS_USER ? other_cores * 1e9 : 0;
}

static void judge_beside(double cores) {
    other_cores = cores;
    begin_with_card((struct process){.run = .04, .gpu = .95},
                    (struct card){.busy = 1, .sm = .9, .tensor = .5});
    add_user(9);
    plant(&recording, RECORDING_PROCESS, 0, "p[9]", 0.1, PROCESS_LEVELS, other_row);
    judge();
}

static void a_program_that_is_busy_on_it_is_named(void **state) {
    (void)state;
    judge_beside(.9);
    const struct candidate *c = &judged.candidates.items[0];
    assert_int_equal(c->kind, CAUSE_GPU_SHARED);
    assert_string_equal(c->culprit.process, "p[9]");
    assert_true(fabs(c->blocked - .95 / 2) < .02);
    assert_null(found(CAUSE_GPU_COMPUTE));
    release();
}

static void a_program_that_only_holds_memory_is_not(void **state) {
    (void)state;
    judge_beside(.01);
    assert_null(found(CAUSE_GPU_SHARED));
    assert_int_equal(judged.candidates.items[0].kind, CAUSE_GPU_COMPUTE);
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_that_is_busy_on_it_is_named),
        cmocka_unit_test(a_program_that_only_holds_memory_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
