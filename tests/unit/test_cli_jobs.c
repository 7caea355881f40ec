/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/jobs/jobs.h"

/* Two hours on 8 cores, of which `used` were busy. */
static struct listed_run plant(int64_t id, double used) {
    return (struct listed_run){.id = id,
                               .name = "a",
                               .started_wall_ns = id * 1000,
                               .duration_s = 7200,
                               .cores = 8,
                               .cores_used = used,
                               .memory_gb = 64,
                               .memory_peak_gb = 4 * (double)id,
                               .gpus = 2,
                               .gpus_used = id == 2 ? NAN : 0.5};
}

static void what_was_given_less_what_was_used_is_idle(void **state) {
    struct listed_run run = plant(1, 3);
    struct job job = job_of(&run);
    (void)state;
    assert_true(fabs(job.core_h - 16) < 1e-9 && fabs(job.idle_core_h - 10) < 1e-9);
    assert_true(fabs(job.gpu_h - 4) < 1e-9 && fabs(job.idle_gpu_h - 3) < 1e-9);
    assert_true(fabs(job.unused_gb_h - 120) < 1e-9);
    run.cores_used = 8.1; /* a quota lets it run over at times */
    assert_true(job_of(&run).idle_core_h == 0);
    run.cores_used = NAN;
    assert_true(isnan(job_of(&run).idle_core_h));
}

static void the_worst_comes_first_and_the_unknown_last(void **state) {
    struct listed_run runs[] = {plant(1, 7), plant(2, NAN), plant(3, 1), plant(4, 5)};
    struct job jobs[4];
    (void)state;
    for (size_t i = 0; i < 4; i++)
        jobs[i] = job_of(&runs[i]);
    static const int64_t expected[JOB_ORDERS][4] = {
        {3, 4, 1, 2}, {1, 3, 4, 2}, {1, 2, 3, 4}, {4, 3, 2, 1}};
    for (int order = 0; order < JOB_ORDERS; order++) {
        jobs_sort(jobs, 4, (enum job_order)order);
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(jobs[i].run->id, expected[order][i]);
    }
    jobs_sort(NULL, 0, JOBS_BY_CORES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_given_less_what_was_used_is_idle),
        cmocka_unit_test(the_worst_comes_first_and_the_unknown_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
