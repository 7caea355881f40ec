/* SPDX-License-Identifier: MIT */
/* Waits of a process for something outside the job, and waits of others for a full host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/gain/demand.h"
#include "tests/unit/awaited_plant.h"
#include "tests/unit/own_remark.h"

/* ---- names ---- */

#define NAME WAIT_REASON_NAME

/* A waits for B, which polls for .7 of its time, of which `named` for a name server. C is
 * unrelated, and resolves names all the time.
 */
static void plant_names(double named, double from_b) {
    begin();
    add_process(&recording,
                (struct process){.host = 0, .pid = 1, .run = 1 - from_b, .receive = from_b});
    add_process(&recording, (struct process){.host = 1, .pid = 2, .run = .3, .poll = .7});
    add_process(&recording, (struct process){.host = 2, .pid = 3, .run = .05, .poll = .95});
    add_socket(&recording, 0, A_TO_B, (struct socket){1, from_b, 0, 0, from_b, 100});
    add_socket(&recording, 1, B_TO_A, (struct socket){2, 0, 0, 0, 0, 100});
    add_pair(&recording, 1, (struct pair){2, 0, NAME, named});
    add_pair(&recording, 2, (struct pair){3, 0, NAME, .95});
    judge();
}

static void look_ups_that_others_wait_for_are_named(void **state) {
    (void)state;
    plant_names(.6, .9);
    const struct candidate *c = found(CAUSE_NAMES);
    assert_non_null(c);
    assert_int_equal(c->host, 1);
    assert_ptr_equal(c->cause.kind, remark_named("NAMES_COME_LATE"));
    assert_null(found(CAUSE_SLEEP));
    release();
    plant_names(.2, .9); /* most of its sleep has another reason */
    assert_null(found(CAUSE_NAMES));
    assert_non_null(found(CAUSE_SLEEP));
    release();
}

/* The index of a process among the budgets. */
static size_t place_of(int64_t pid) {
    size_t r = 0;
    while (judged.model.budgets.items[r].pid != pid)
        r++;
    return r;
}

/* Its waits for names count with their own time on the path, not with all of its sleep. */
static void look_ups_are_charged_with_their_own_part(void **state) {
    (void)state;
    plant_names(.5, .9);
    const struct candidate *c = found(CAUSE_NAMES);
    assert_non_null(c);
    double all =
        model_rank_demand(&judged.model, judged.model.main_group, place_of(2), BUDGET_IDLE);
    assert_true(fabs(c->blocked - all * .5 / .7) < .02);
    release();
}

/* ---- cores ---- */

static double full_core(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_USER ? 1e9 : 0;
}

static double idle_core(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_IDLE ? 1e9 : 0;
}

/* Two processes share the only core of vm2; on vm1 a process waits for the first of them, or no
 * process does.
 */
static void plant_full_host(double waits) {
    plant_init(&recording, 2, SECONDS);
    plant(&recording, RECORDING_CPU, 0, "cpu0", 0.1, 0, idle_core);
    plant(&recording, RECORDING_CPU, 1, "cpu0", 0.1, 0, full_core);
    add_process(
        &recording,
        (struct process){.host = 0, .pid = 1, .run = .02, .receive = waits, .timer = .98 - waits});
    for (int pid = 2; pid < 4; pid++)
        add_process(
            &recording,
            (struct process){.host = 1, .pid = pid, .run = .5, .ready = .48, .receive = .02});
    add_socket(&recording, 0, A_TO_B, (struct socket){1, waits, 0, 0, waits, 100});
    add_socket(&recording, 1, B_TO_A, (struct socket){2, .02, 0, 0, .02, 100});
    judge();
}

static void full_cores_that_others_elsewhere_wait_for_are_the_limit(void **state) {
    (void)state;
    plant_full_host(.98);
    const struct candidate *c = found(CAUSE_CONTENTION);
    assert_non_null(c);
    assert_int_equal(c->host, 1);
    release();
    plant_full_host(.01); /* all compute, on all cores that they have */
    assert_null(found(CAUSE_CONTENTION));
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(look_ups_that_others_wait_for_are_named),
        cmocka_unit_test(look_ups_are_charged_with_their_own_part),
        cmocka_unit_test(full_cores_that_others_elsewhere_wait_for_are_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
