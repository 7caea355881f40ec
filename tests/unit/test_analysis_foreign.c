/* SPDX-License-Identifier: MIT */
/* The program outside the job that is named: the process that used most of that host. If several
 * processes run the same program, it is the first of them, if that used at least half as much.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/evidence/processes.h"
#include "analysis/run_model.h"
#include "tests/unit/plant.h"

struct foreign {
    int host, pid;
    const char *name;
    double begun_s, cores, read, write; /* bytes/s */
    bool job;
};

static struct foreign now;

static double row_of_foreign(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case PROCESS_PID:
        return now.pid;
    case PROCESS_JOB:
        return now.job;
    case PROCESS_START:
        return now.begun_s * 1e9;
    case PROCESS_USER:
        return now.cores * 0.75e9;
    case PROCESS_SYSTEM:
        return now.cores * 0.25e9;
    case PROCESS_READ:
        return now.read;
    case PROCESS_WRITE:
        return now.write;
    case PROCESS_MAJOR_FAULTS:
        return 1000 - now.pid;
    default:
        return 0;
    }
}

/* The named process on host 0; its use must be its own. */
static int named(const struct foreign *all, size_t n, bool writing) {
    struct recording r;
    struct run_model model;
    double use;
    plant_init(&r, 2, 10);
    for (size_t i = 0; i < n; i++) {
        now = all[i];
        plant(&r, RECORDING_PROCESS, now.host, now.name, 0.5, PROCESS_LEVELS | 1u << PROCESS_START,
              row_of_foreign);
    }
    assert_int_equal(model_build(&r, &model), 0);
    const struct model_process *found =
        (writing ? writing_foreign : busiest_foreign)(&model, 0, 0, &use);
    int pid = found ? (int)culprit_of(&model, found).pid : -1;
    for (size_t i = 0; i < n; i++)
        if (all[i].pid == pid)
            assert_true(fabs(use - (writing ? all[i].read + all[i].write : all[i].cores)) <
                        1e-6 * fabs(use) + 1e-9);
    model_release(&model);
    recording_release(&r);
    return pid;
}

#define NAMED(writing, ...)                                                                        \
    named((const struct foreign[]){__VA_ARGS__},                                                   \
          sizeof((const struct foreign[]){__VA_ARGS__}) / sizeof(struct foreign), writing)

static void who_used_most_of_that_host_is_named(void **state) {
    (void)state;
    assert_int_equal(NAMED(false, {0, 10, "a[10]", 1, .3, 0, 0, false},
                           {0, 11, "b[11]", 2, .4, 0, 0, false},
                           {0, 12, "c[12]", 3, .2, 0, 0, false}),
                     11);
    assert_int_equal(
        NAMED(false, {1, 10, "a[10]", 1, .9, 0, 0, false}, {0, 11, "b[11]", 2, .4, 0, 0, false}),
        11);
    assert_int_equal(
        NAMED(false, {0, 10, "a[10]", 1, .9, 0, 0, true}, {0, 11, "b[11]", 2, .4, 0, 0, false}),
        11);
    assert_int_equal(NAMED(false, {1, 10, "a[10]", 1, .9, 0, 0, false}), -1);
}

static void who_moved_most_is_named(void **state) {
    (void)state;
    assert_int_equal(NAMED(true, {0, 10, "a[10]", 1, .9, 100, 900, false},
                           {0, 11, "b[11]", 2, .1, 1500, 100, false},
                           {0, 12, "c[12]", 3, .1, 0, 1550, false}),
                     11);
}

static void of_one_program_the_first_that_was_started_is_named(void **state) {
    (void)state;
    assert_int_equal(NAMED(false, {0, 10, "hog[10]", 2, .6, 0, 0, false},
                           {0, 11, "hog[11]", 1, .5, 0, 0, false}),
                     11);
    assert_int_equal(NAMED(false, {0, 10, "hog[10]", 1, .5, 0, 0, false},
                           {0, 11, "hog[11]", 2, .6, 0, 0, false}),
                     10);
    assert_int_equal(NAMED(false, {0, 10, "hog[10]", 2, .6, 0, 0, false},
                           {0, 11, "hog[11]", 1, .2, 0, 0, false}),
                     10);
    assert_int_equal(NAMED(false, {0, 10, "hog[10]", 2, .6, 0, 0, false},
                           {0, 11, "hoggy[11]", 1, .5, 0, 0, false}),
                     10);
    assert_int_equal(NAMED(false, {0, 10, "hog[10]", 2, .6, 0, 0, false},
                           {1, 11, "hog[11]", 1, .5, 0, 0, false}),
                     10);
    /* begun at one instant: the lower id is the older */
    assert_int_equal(NAMED(false, {0, 10, "hog[10]", 1, .5, 0, 0, false},
                           {0, 11, "hog[11]", 1, .6, 0, 0, false}),
                     10);
    assert_int_equal(NAMED(false, {0, 10, "hog[10]", 1, .6, 0, 0, false},
                           {0, 11, "hog[11]", 1, .5, 0, 0, false}),
                     10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_used_most_of_that_host_is_named),
        cmocka_unit_test(who_moved_most_is_named),
        cmocka_unit_test(of_one_program_the_first_that_was_started_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
