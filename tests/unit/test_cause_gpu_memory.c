/* SPDX-License-Identifier: MIT */
/* A GPU whose memory is full. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/gpu_rows.h"

/* The kernel's part of its CPU time. */
static double system_part;

static double driver_row(size_t column, double t_s) {
    double value = process_row(column, t_s);
    if (column == PROCESS_SYSTEM)
        return system_part * process_now.run * 1e9;
    return column == PROCESS_USER ? (1 - system_part) * value : value;
}

static void judge_memory(double system, double memory) {
    system_part = system;
    begin_with_card((struct process){.run = .97},
                    (struct card){.busy = .95, .sm = .7, .memory = memory});
    series_set_release(&recording.tables[RECORDING_PROCESS]);
    recording.tables[RECORDING_PROCESS] = series_set_like(&recording.tables[RECORDING_PROCESS]);
    plant(&recording, RECORDING_PROCESS, 0, "p[1]", 0.1, PROCESS_LEVELS, driver_row);
    judge();
}

static void full_memory_and_a_driver_at_work_are_blocks_given_back(void **state) {
    (void)state;
    judge_memory(.25, .99);
    const struct candidate *c = &judged.candidates.items[0];
    assert_int_equal(c->kind, CAUSE_GPU_MEMORY);
    assert_true(fabs(c->blocked - .3 * .97) < .03);
    assert_null(found(CAUSE_GPU_COMPUTE));
    release();
}

static void neither_alone_is(void **state) {
    (void)state;
    judge_memory(.05, .99);
    assert_null(found(CAUSE_GPU_MEMORY));
    release();
    judge_memory(.25, .9);
    assert_null(found(CAUSE_GPU_MEMORY));
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_memory_and_a_driver_at_work_are_blocks_given_back),
        cmocka_unit_test(neither_alone_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
