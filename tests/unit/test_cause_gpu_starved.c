/* SPDX-License-Identifier: MIT */
/* A GPU whose data come late. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/gpu_rows.h"

static void a_process_that_computes_the_data_itself_is_named(void **state) {
    (void)state;
    judge_with_card((struct process){.run = .97}, (struct card){.busy = .02, .sm = .01});
    const struct candidate *c = &judged.candidates.items[0];
    assert_int_equal(c->kind, CAUSE_GPU_STARVED);
    assert_non_null(strstr(judged.words.summary, "p[1] itself"));
    release();
}

/* Process 1 waits for process 2, which is on no GPU. */
static void judge_helper(struct process helper, struct card card) {
    helper.pid = 2;
    begin_with_card((struct process){.run = .1, .poll = .9}, card);
    add_process(&recording, helper);
    add_pair(&recording, 0, (struct pair){1, 2, WAIT_REASON_POLL, .9});
    judge();
}

static void helpers_that_compute_are_told_from_helpers_that_sleep(void **state) {
    (void)state;
    const struct card idles = {.busy = .1, .sm = .05};
    judge_helper((struct process){.run = .98}, idles);
    const struct candidate *c = found(CAUSE_GPU_STARVED);
    assert_non_null(c);
    assert_int_equal((int)c->cause.numbers[1], 1);
    assert_string_equal(c->cause.names[0], "p[2]");
    release();
    judge_helper((struct process){.run = .1, .timer = .9}, idles);
    c = found(CAUSE_GPU_STARVED);
    assert_non_null(c);
    assert_int_equal((int)c->cause.numbers[1], 2);
    assert_false(c->can_remove || c->saturated);
    release();
}

static void a_gpu_that_works_is_fed_well(void **state) {
    (void)state;
    judge_helper((struct process){.run = .98}, (struct card){.busy = .95, .sm = .9});
    assert_null(found(CAUSE_GPU_STARVED));
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_computes_the_data_itself_is_named),
        cmocka_unit_test(helpers_that_compute_are_told_from_helpers_that_sleep),
        cmocka_unit_test(a_gpu_that_works_is_fed_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
