/* SPDX-License-Identifier: MIT */
/* A GPU that computes while it is waited for, by planted clocks and counters. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/gpu_rows.h"

static const struct process waits = {.run = .04, .gpu = .95};

/* Number of the unit in the first candidate's words; 0: latency. */
static int unit_of(struct card card) {
    judge_with_card(waits, card);
    const struct candidate *c = &judged.candidates.items[0];
    assert_int_equal(c->kind, CAUSE_GPU_COMPUTE);
    assert_true(fabs(c->blocked - .95) < .02);
    assert_int_equal(c->remove.term, BUDGET_GPU);
    int unit = strcmp(c->cause.kind->name, "GPU_UNIT_LIMITS") == 0 ? (int)c->cause.numbers[0] : 0;
    assert_int_equal(judged.verdict.resource, RESOURCE_GPU);
    release();
    return unit;
}

static void the_full_unit_is_named(void **state) {
    (void)state;
    assert_int_equal(unit_of((struct card){.busy = 1, .sm = .96, .tensor = .93, .dram = .18}), 1);
    assert_int_equal(unit_of((struct card){.busy = 1, .sm = .96, .fp32 = .76, .dram = .05}), 3);
    assert_int_equal(unit_of((struct card){.busy = 1, .sm = .99, .fp32 = .02, .dram = .88}), 5);
}

static void a_busy_gpu_without_a_full_unit_waits_for_itself(void **state) {
    (void)state;
    assert_int_equal(unit_of((struct card){.busy = 1, .sm = .93, .tensor = .18, .dram = .26}), 0);
}

static void units_that_are_read_seldom_are_weighed_as_often_read_ones(void **state) {
    (void)state;
    const struct card card = {.busy = 1, .sm = .96, .fp32 = .76, .reads_seldom = true};
    assert_int_equal(unit_of(card), 3);
    judge_with_card(waits, card);
    const struct remark *evidence = judged.verdict.evidence.items;
    assert_true(judged.verdict.evidence.n >= 3);
    assert_true(fabs(evidence[1].numbers[0] - 96) < 1);
    assert_true(fabs(evidence[2].numbers[1] - 76) < 1);
    release();
}

static void a_busy_gpu_whose_multiprocessors_idle_does_not_compute(void **state) {
    (void)state;
    judge_with_card(waits, (struct card){.busy = 1, .sm = .01});
    assert_null(found(CAUSE_GPU_COMPUTE));
    assert_non_null(found(CAUSE_GPU_WAIT));
    release();
}

static void a_gpu_that_tells_no_units_is_only_awaited(void **state) {
    (void)state;
    judge_with_card(waits, (struct card){.busy = 1, .sm = .96, .has_no_units = true});
    assert_null(found(CAUSE_GPU_COMPUTE));
    assert_non_null(found(CAUSE_GPU_WAIT));
    release();
}

static void a_gpu_that_works_beside_a_computing_host_is_a_bound(void **state) {
    (void)state;
    judge_with_card((struct process){.run = .97, .gpu = .02},
                    (struct card){.busy = .95, .sm = .8, .dram = .2});
    const struct candidate *c = found(CAUSE_GPU_COMPUTE);
    assert_non_null(c);
    assert_false(c->can_remove || c->saturated);
    assert_true(fabs(c->blocked - .8 * .97) < .03);
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_full_unit_is_named),
        cmocka_unit_test(a_busy_gpu_without_a_full_unit_waits_for_itself),
        cmocka_unit_test(units_that_are_read_seldom_are_weighed_as_often_read_ones),
        cmocka_unit_test(a_busy_gpu_whose_multiprocessors_idle_does_not_compute),
        cmocka_unit_test(a_gpu_that_tells_no_units_is_only_awaited),
        cmocka_unit_test(a_gpu_that_works_beside_a_computing_host_is_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
