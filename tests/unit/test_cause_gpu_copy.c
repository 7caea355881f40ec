/* SPDX-License-Identifier: MIT */
/* Copies that fill the link of a GPU. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/gpu_rows.h"

static void copies_to_and_from_it_fill_pcie(void **state) {
    (void)state;
    for (int from = 0; from < 2; from++) {
        double rate = .9 * GPU_PCIE_5_X16;
        judge_with_card((struct process){.run = .04, .gpu = .95},
                        (struct card){.busy = 1, .to = from ? 0 : rate, .from = from ? rate : 0});
        const struct candidate *c = &judged.candidates.items[0];
        assert_int_equal(c->kind, CAUSE_GPU_COPY);
        assert_int_equal((int)c->cause.numbers[0], 1 + from);
        assert_null(found(CAUSE_GPU_WAIT));
        release();
    }
}

static void a_link_in_half_use_is_not_full(void **state) {
    (void)state;
    judge_with_card((struct process){.run = .04, .gpu = .95},
                    (struct card){.busy = 1, .to = .5 * GPU_PCIE_5_X16});
    assert_null(found(CAUSE_GPU_COPY));
    assert_non_null(found(CAUSE_GPU_WAIT));
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_to_and_from_it_fill_pcie),
        cmocka_unit_test(a_link_in_half_use_is_not_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
