/* SPDX-License-Identifier: MIT */
/* A workload plants exactly the requested fault in itself, at the requested rank and in its window.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <time.h>

#include "workloads/common/plant.h"

static double clock_ms(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void a_skewed_rank_has_more_work_in_its_window_only(void **state) {
    (void)state;
    struct plants p = {0};
    assert_int_equal(plants_add(&p, "skew:2:1.5@0.4-0.6"), 0);
    assert_true(plants_work(&p, 2, 0.4) == 1.5);
    assert_true(plants_work(&p, 2, 0.39) == 1);
    assert_true(plants_work(&p, 2, 0.6) == 1);
    assert_true(plants_work(&p, 1, 0.5) == 1);
    assert_int_equal(plants_add(&p, "skew:2:2"), 0);
    assert_true(plants_work(&p, 2, 0.5) == 3);
    assert_true(plants_work(&p, 2, 1) == 2);
}

static void sleeping_takes_time_and_no_cpu(void **state) {
    (void)state;
    struct plants p = {0};
    assert_int_equal(plants_add(&p, "sleep:1:60"), 0);
    double wall = clock_ms(CLOCK_MONOTONIC), cpu = clock_ms(CLOCK_THREAD_CPUTIME_ID);
    assert_int_equal(plants_compute(&p, 1, 0), 0);
    assert_true(clock_ms(CLOCK_MONOTONIC) - wall >= 60);
    assert_true(clock_ms(CLOCK_THREAD_CPUTIME_ID) - cpu < 30);
}

static void spinning_and_applying_take_cpu(void **state) {
    (void)state;
    struct plants p = {0};
    assert_int_equal(plants_add(&p, "spin:3:20"), 0);
    assert_int_equal(plants_add(&p, "apply:30"), 0);
    double cpu = clock_ms(CLOCK_THREAD_CPUTIME_ID);
    assert_int_equal(plants_compute(&p, 3, 0), 0);
    assert_true(clock_ms(CLOCK_THREAD_CPUTIME_ID) - cpu >= 20);
    cpu = clock_ms(CLOCK_THREAD_CPUTIME_ID);
    plants_apply(&p, 0.9);
    assert_true(clock_ms(CLOCK_THREAD_CPUTIME_ID) - cpu >= 30);
}

static void a_working_set_is_mapped_once_and_given_back(void **state) {
    (void)state;
    struct plants p = {0};
    assert_int_equal(plants_add(&p, "memory:0:2"), 0);
    assert_int_equal(plants_compute(&p, 1, 0), 0);
    assert_null(p.set[0]);
    assert_int_equal(plants_compute(&p, 0, 0), 0);
    assert_non_null(p.set[0]);
    const unsigned char *first = p.set[0];
    assert_int_equal(first[1999999], 1);
    assert_int_equal(plants_compute(&p, 0, 0.5), 0);
    assert_ptr_equal(p.set[0], first);
    plants_release(&p);
    assert_int_equal(p.n, 0);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    static const char *const words[] = {
        "",           "skew",         "skew:",          "skew:1",        "skew:1:",
        "skew:x:2",   "skew:-1:2",    "skew:1.5:2",     "skew:1:0",      "skew:1:nan",
        "skew:1:2x",  "sleep:1:-5",   "sleep:1:1e99",   "sleep:1:5@",    "sleep:1:5@0.5",
        "apply:1:5",  "apply:",       "apply:5@.6-.4",  "apply:5@0.2-2", "apply:5@0.2-0.4 ",
        "memory:0:0", "memory:0:1,5", "spin:1:5@-0-.1", "quota:1:5",     "skew:99999999999:2",
    };
    struct plants p = {0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_int_equal(plants_add(&p, words[i]), -EINVAL);
    assert_int_equal(p.n, 0);
}

static void there_is_an_end_to_what_is_planted(void **state) {
    (void)state;
    struct plants p = {0};
    for (int i = 0; i < PLANTS_MAX; i++)
        assert_int_equal(plants_add(&p, "apply:1"), 0);
    assert_int_equal(plants_add(&p, "apply:1"), -E2BIG);
}

static void a_rank_that_is_not_there_is_told(void **state) {
    (void)state;
    struct plants p = {0};
    int rank = -1;
    assert_int_equal(plants_add(&p, "sleep:4:1"), 0);
    assert_true(plants_fit(&p, 5, &rank));
    assert_false(plants_fit(&p, 4, &rank));
    assert_int_equal(rank, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_skewed_rank_has_more_work_in_its_window_only),
        cmocka_unit_test(sleeping_takes_time_and_no_cpu),
        cmocka_unit_test(spinning_and_applying_take_cpu),
        cmocka_unit_test(a_working_set_is_mapped_once_and_given_back),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(there_is_an_end_to_what_is_planted),
        cmocka_unit_test(a_rank_that_is_not_there_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
