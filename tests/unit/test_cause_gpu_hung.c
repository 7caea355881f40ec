/* SPDX-License-Identifier: MIT */
/* A GPU whose work does not end. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/gpu_rows.h"

static void a_busy_gpu_at_idle_power_that_moves_nothing_hangs(void **state) {
    (void)state;
    judge_with_card((struct process){.run = .01, .gpu = .98},
                    (struct card){.busy = 1, .watts = .18});
    assert_int_equal(judged.candidates.items[0].kind, CAUSE_GPU_HUNG);
    release();
}

static void a_gpu_that_copies_at_idle_power_does_not(void **state) {
    (void)state;
    judge_with_card((struct process){.run = .01, .gpu = .98},
                    (struct card){.busy = 1, .watts = .18, .to = .3 * GPU_PCIE_5_X16});
    assert_null(found(CAUSE_GPU_HUNG));
    release();
}

static void a_gpu_that_draws_power_does_not(void **state) {
    (void)state;
    judge_with_card((struct process){.run = .01, .gpu = .98},
                    (struct card){.busy = 1, .watts = .6});
    assert_null(found(CAUSE_GPU_HUNG));
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_gpu_at_idle_power_that_moves_nothing_hangs),
        cmocka_unit_test(a_gpu_that_copies_at_idle_power_does_not),
        cmocka_unit_test(a_gpu_that_draws_power_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
