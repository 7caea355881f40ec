/* SPDX-License-Identifier: MIT */
/* Processes that wait for a GPU on a core, by planted wait clocks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/awaited_plant.h"

/* Its core is busy all the time. */
static double busy_core(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_USER ? 1e9 : 0;
}

static void judge_alone(struct process p) {
    p.pid = 1;
    begin();
    add_process(&recording, p);
    for (int host = 0; host < 3; host++)
        plant(&recording, RECORDING_CPU, host, "cpu0", 0.1, 0, busy_core);
    judge();
}

static void a_process_that_polls_for_its_gpu_does_not_compute(void **state) {
    (void)state;
    judge_alone((struct process){.run = .04, .gpu = .94, .to_gpu = .01, .from_gpu = .01});
    const struct candidate *c = found(CAUSE_GPU_WAIT);
    assert_non_null(c);
    assert_int_equal(c->host, 0);
    assert_int_equal(c->remove.term, BUDGET_GPU);
    assert_true(fabs(c->blocked - .94) < .02);
    assert_int_equal(judged.verdict.resource, RESOURCE_GPU);
    assert_int_equal(judged.verdict.kind, CAUSE_GPU_WAIT);
    assert_true(fabs(judged.verdict.gain - .94) < .03);
    assert_null(found(CAUSE_SERIAL));
    assert_null(found(CAUSE_COMPUTE_BOUND));
    assert_true(strstr(judged.words.summary, "GPU") != NULL);
    assert_true(judged.model.budgets.items[0].groups[0].other_cpu_s <
                .1); /* polled, not computed */
    release();
}

static void copies_are_told_apart_from_waits(void **state) {
    (void)state;
    judge_alone((struct process){.run = .1, .gpu = .1, .to_gpu = .5, .from_gpu = .3});
    const struct candidate *first = &judged.candidates.items[0];
    assert_int_equal(first->kind, CAUSE_GPU_WAIT);
    assert_int_equal(first->remove.term, BUDGET_GPU_COPY);
    assert_true(fabs(first->blocked - .8) < .02);
    release();
}

static void a_gpu_that_is_hardly_awaited_is_no_limit(void **state) {
    (void)state;
    judge_alone((struct process){.run = .97, .gpu = .02, .to_gpu = .01});
    assert_null(found(CAUSE_GPU_WAIT));
    assert_int_not_equal(judged.verdict.resource, RESOURCE_GPU);
    assert_int_not_equal(judged.verdict.state, VERDICT_INSUFFICIENT); /* its waits are seen */
    release();
}

/* A waits for B, which waits for its GPU. */
static void the_gpu_that_a_chain_of_waits_ends_at_is_named(void **state) {
    (void)state;
    begin();
    add_process(&recording, (struct process){.host = 0, .pid = 1, .run = .1, .receive = .9});
    add_process(&recording,
                (struct process){.host = 1, .pid = 2, .run = .1, .receive = .1, .gpu = .8});
    add_socket(&recording, 0, A_TO_B, (struct socket){1, .9, 0, 0, .9, 100});
    add_socket(&recording, 1, B_TO_A, (struct socket){2, .1, 0, 0, .1, 100});
    judge();
    const struct candidate *c = found(CAUSE_GPU_WAIT);
    assert_non_null(c);
    assert_int_equal(c->host, 1);
    assert_true(fabs(c->blocked - .8) < .05);
    assert_int_equal(judged.candidates.items[0].kind, CAUSE_GPU_WAIT);
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_polls_for_its_gpu_does_not_compute),
        cmocka_unit_test(copies_are_told_apart_from_waits),
        cmocka_unit_test(a_gpu_that_is_hardly_awaited_is_no_limit),
        cmocka_unit_test(the_gpu_that_a_chain_of_waits_ends_at_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
