/* SPDX-License-Identifier: MIT */
/* Garbage collection: a process whose collector runs while its other threads stand still. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/awaited_plant.h"

static double runs, cpu, collector; /* shares of time, and cores */

static double runtime_row(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case PROCESS_PID:
        return 1;
    case PROCESS_RANK:
        return NAN;
    case PROCESS_JOB:
        return 1;
    case PROCESS_THREADS:
        return 8;
    case PROCESS_USER:
        return cpu * 1e9;
    case PROCESS_COLLECTOR:
        return collector * 1e9; /* NAN: it has no such threads */
    default:
        return 0;
    }
}

static double runtime_wait_row(size_t column, double t_s) {
    (void)t_s;
    return column == WAIT_PID             ? 1
           : column == WAIT_PROCESS_RUN   ? runs * 1e9
           : column == WAIT_PROCESS_FUTEX ? (1 - runs) * 1e9
           : column == WAIT_NS_RUN        ? cpu * 1e9
                                          : 0;
}

static double core_row(size_t column, double t_s) {
    (void)t_s;
    double used = fmin(1, cpu / 2);
    return column == CPU_USER ? used * 1e9 : column == CPU_IDLE ? (1 - used) * 1e9 : 0;
}

static void judge_runtime(double run, double used, double collecting) {
    runs = run;
    cpu = used;
    collector = collecting;
    plant_init(&recording, 1, SECONDS);
    plant(&recording, RECORDING_CPU, 0, "cpu0", 0.1, 0, core_row);
    plant(&recording, RECORDING_CPU, 0, "cpu1", 0.1, 0, core_row);
    plant(&recording, RECORDING_PROCESS, 0, "java A[1]", 0.1, PROCESS_LEVELS, runtime_row);
    plant(&recording, RECORDING_WAIT, 0, "java A[1]", 0.1, 1u << WAIT_PID, runtime_wait_row);
    judge();
}

static void a_program_that_stands_still_for_its_collector_is_told(void **state) {
    (void)state;
    judge_runtime(.95, 1.4, .9); /* two collectors at a time for .45, one thread else */
    const struct candidate *c = found(CAUSE_COLLECTING);
    assert_non_null(c);
    assert_true(fabs(c->blocked - .95 * .9 / 1.4) < .02);
    assert_int_equal(judged.verdict.kind, CAUSE_COLLECTING);
    assert_true(fabs(judged.verdict.gain - .95 * .9 / 1.4) < .05);
    assert_non_null(strstr(judged.words.summary, "collects garbage"));
    release();
}

static void a_collector_beside_the_program_holds_up_nothing(void **state) {
    (void)state;
    judge_runtime(.95, 1.85, .9); /* its thread runs all the while */
    assert_null(found(CAUSE_COLLECTING));
    release();
    judge_runtime(.95, .95, .1); /* as little as a heap with room takes */
    assert_null(found(CAUSE_COLLECTING));
    release();
    judge_runtime(.95, 1.4, NAN);
    assert_null(found(CAUSE_COLLECTING));
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_that_stands_still_for_its_collector_is_told),
        cmocka_unit_test(a_collector_beside_the_program_holds_up_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
