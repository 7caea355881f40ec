/* SPDX-License-Identifier: MIT */
/* Copies of pageable memory. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/gpu_rows.h"

static void slow_copies_of_a_busy_core_are_of_pageable_memory(void **state) {
    (void)state;
    judge_with_card((struct process){.run = .04, .to_gpu = .95},
                    (struct card){.busy = .1, .to = .1 * GPU_PCIE_5_X16});
    const struct candidate *c = &judged.candidates.items[0];
    assert_int_equal(c->kind, CAUSE_GPU_PAGEABLE);
    assert_int_equal(c->remove.term, BUDGET_GPU_COPY);
    assert_non_null(strstr(judged.words.summary, "p[1]"));
    assert_null(found(CAUSE_GPU_WAIT));
    release();
}

static void copies_as_fast_as_the_link_are_not(void **state) {
    (void)state;
    judge_with_card((struct process){.run = .04, .to_gpu = .95},
                    (struct card){.busy = 1, .to = .9 * GPU_PCIE_5_X16});
    assert_null(found(CAUSE_GPU_PAGEABLE));
    assert_int_equal(judged.candidates.items[0].kind, CAUSE_GPU_COPY);
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_copies_of_a_busy_core_are_of_pageable_memory),
        cmocka_unit_test(copies_as_fast_as_the_link_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
