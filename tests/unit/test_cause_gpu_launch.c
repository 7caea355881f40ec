/* SPDX-License-Identifier: MIT */
/* A thread that launches small pieces of work. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/gpu_rows.h"

static void a_gpu_that_waits_for_one_thread_is_not_the_limit(void **state) {
    (void)state;
    judge_with_card((struct process){.run = .97}, (struct card){.busy = .25, .sm = .02});
    const struct candidate *c = &judged.candidates.items[0];
    assert_int_equal(c->kind, CAUSE_GPU_LAUNCH);
    assert_int_equal(judged.verdict.subject, SUBJECT_CORE);
    assert_true(judged.verdict.gain > .3 && judged.verdict.gain < .55);
    release();
}

static double eight_threads(size_t column, double t_s) {
    return column == PROCESS_THREADS ? 8 : process_row(column, t_s);
}

/* Clocks that ran in slices miss most of it, and tell that no two of its threads run at once. */
static void one_thread_that_was_clocked_in_slices_computes_as_counted(void **state) {
    (void)state;
    begin_with_card((struct process){.run = .1, .poll = .9, .counted = .8},
                    (struct card){.busy = .2, .sm = .01});
    series_set_release(&recording.tables[RECORDING_PROCESS]);
    recording.tables[RECORDING_PROCESS] = series_set_like(&recording.tables[RECORDING_PROCESS]);
    plant(&recording, RECORDING_PROCESS, 0, "p[1]", 0.1, PROCESS_LEVELS, eight_threads);
    judge();
    const struct budget *b = &judged.model.budgets.items[0].groups[0];
    assert_true(fabs(budget_sum(b, 1u << BUDGET_CPU) / b->wall_s - .8) < .03);
    assert_int_equal(judged.candidates.items[0].kind, CAUSE_GPU_LAUNCH);
    release();
}

/* Whether the candidate for computing says how busy the GPU was. */
static bool computing_tells_of_gpu(double busy) {
    judge_with_card((struct process){.run = .97}, (struct card){.busy = busy, .sm = busy});
    const struct candidate *c = found(CAUSE_SINGLE_THREAD);
    bool tells = false;
    assert_non_null(c);
    for (size_t i = 0; i < c->evidence.n; i++)
        tells |= c->evidence.items[i].code == REMARK_GPU_BUSY_MEANWHILE;
    release();
    return tells;
}

static void computing_is_said_with_the_gpu_that_idles_meanwhile(void **state) {
    (void)state;
    assert_true(computing_tells_of_gpu(.1));
    assert_false(computing_tells_of_gpu(.9));
}

static void a_thread_beside_a_gpu_that_works_is_ahead_of_it(void **state) {
    (void)state;
    judge_with_card((struct process){.run = .97}, (struct card){.busy = .9, .sm = .8});
    assert_null(found(CAUSE_GPU_LAUNCH));
    release();
}

static void a_thread_whose_gpu_has_hardly_anything_to_do_does_something_else(void **state) {
    (void)state;
    judge_with_card((struct process){.run = .97}, (struct card){.busy = .02, .sm = .01});
    assert_null(found(CAUSE_GPU_LAUNCH));
    assert_non_null(found(CAUSE_GPU_STARVED));
    release();
}

static void the_start_of_a_program_is_no_launching(void **state) {
    (void)state;
    judge_with_card((struct process){.run = .97},
                    (struct card){.busy = .25, .sm = .02, .before_s = 15});
    const struct candidate *c = found(CAUSE_GPU_LAUNCH);
    assert_non_null(c);
    assert_true(fabs(c->blocked - .25) < .05);
    assert_false(c->can_remove);
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_that_waits_for_one_thread_is_not_the_limit),
        cmocka_unit_test(one_thread_that_was_clocked_in_slices_computes_as_counted),
        cmocka_unit_test(computing_is_said_with_the_gpu_that_idles_meanwhile),
        cmocka_unit_test(a_thread_beside_a_gpu_that_works_is_ahead_of_it),
        cmocka_unit_test(a_thread_whose_gpu_has_hardly_anything_to_do_does_something_else),
        cmocka_unit_test(the_start_of_a_program_is_no_launching),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
