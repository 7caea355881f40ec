/* SPDX-License-Identifier: MIT */
/* Iterations of a program that marks and sends nothing, from the rhythm of its waits. The agent
 * samples ten times a second, so a period of two samples or less is not visible.
 */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/wait_plant.h"

#include <cmocka.h>

#include "analysis/run_model.h"

#define SECONDS 20

static struct recording recording;
static struct run_model model;

#define PACE 0.8 /* s in an iteration; it runs in the first half of each */

static double paced_wait_row(size_t column, double t_s) {
    bool runs = fmod(t_s + 100 * PACE, PACE) < PACE / 2;
    switch (column) {
    case WAIT_PID:
        return 1;
    case WAIT_PROCESS_RUN:
        return runs ? 1e9 : 0;
    case WAIT_PROCESS_POLL:
        return runs ? 0 : 1e9;
    default:
        return 0;
    }
}

static void a_process_that_runs_and_waits_in_turns_has_iterations(void **state) {
    (void)state;
    plant_init(&recording, 1, SECONDS);
    process_now = (struct process){.host = 0, .pid = 1, .run = .5};
    plant(&recording, RECORDING_PROCESS, 0, "p[1]", 0.1, PROCESS_LEVELS, process_row);
    plant(&recording, RECORDING_WAIT, 0, "p[1]", 0.1, 1u << WAIT_PID, paced_wait_row);
    assert_int_equal(model_build(&recording, &model), 0);
    assert_int_equal(model.iterations.source, ITERATION_COUNTERS);
    assert_int_equal(model.iterations.n, 1);
    const struct rank_iterations *its = &model.iterations.ranks[0];
    assert_true(fabs((double)its->items[0].duration_ns / 1e9 - PACE) < .01);
    assert_true(its->n >= 23 && its->n <= 25);
    model_release(&model);
    recording_release(&recording);
}

static void a_process_that_runs_evenly_has_none(void **state) {
    (void)state;
    plant_init(&recording, 1, SECONDS);
    add_process(&recording, (struct process){.host = 0, .pid = 1, .run = .5, .poll = .5});
    assert_int_equal(model_build(&recording, &model), 0);
    assert_int_equal(model.iterations.n, 0);
    model_release(&model);
    recording_release(&recording);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_runs_and_waits_in_turns_has_iterations),
        cmocka_unit_test(a_process_that_runs_evenly_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
